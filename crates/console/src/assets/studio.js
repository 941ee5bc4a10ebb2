// The studio: errors told while one types, histories that are walked step by step, answers in place.
"use strict";
(() => {
  const all = (what, inside = document) => [...inside.querySelectorAll(what)];
  const form = document.querySelector("form[data-studio]");
  if (!form) return;
  form.classList.add("lively");
  const kept = {
    get: name => { try { return sessionStorage.getItem(name); } catch { return null; } },
    set: (name, value) => { try { sessionStorage.setItem(name, value); } catch { /* not kept */ } },
  };
  const field = name => form.elements.namedItem(name);
  const text = field("text");
  const by = id => document.getElementById(id);

  // A history: one step at a time.
  let walking = null;
  const walk = trace => {
    const steps = all(":scope > ol.steps > li", trace);
    if (!steps.length || trace.classList.contains("walking")) return;
    trace.classList.add("walking");
    const circles = all("circle.number", trace);
    const repeats = all(":scope > ol.steps > .repeat", trace);
    const ending = trace.querySelector(".ending");
    const bar = document.createElement("div");
    bar.className = "walk";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Walk the history");
    const said = document.createElement("span");
    said.className = "at";
    said.setAttribute("aria-live", "polite");
    let at = 0;
    const show = next => {
      at = Math.max(0, Math.min(steps.length - 1, next));
      steps.forEach((step, n) => { step.hidden = n !== at; });
      repeats.forEach(line => { line.hidden = line.nextElementSibling !== steps[at]; });
      circles.forEach((circle, n) => { circle.classList.toggle("now", n === at); circle.classList.toggle("then", n > at); });
      if (ending) ending.hidden = at !== steps.length - 1;
      said.textContent = `step ${at + 1} of ${steps.length}`;
      const [first, back, next_, last] = all("button", bar);
      first.disabled = back.disabled = at === 0;
      next_.disabled = last.disabled = at === steps.length - 1;
      const figure = trace.querySelector("figure");
      if (figure && circles[at]) {
        const apart = circles[at].getBoundingClientRect().top - figure.getBoundingClientRect().top;
        if (apart < 20 || apart > figure.clientHeight - 60) figure.scrollTop += apart - figure.clientHeight / 3;
      }
      walking = { go: by => show(at + by), to: show, length: steps.length };
    };
    const button = (words, to) => {
      const made = document.createElement("button");
      made.type = "button";
      made.className = "button second";
      made.textContent = words;
      made.addEventListener("click", () => show(to()));
      bar.append(made);
    };
    button("First", () => 0);
    button("Back", () => at - 1);
    bar.append(said);
    button("Next", () => at + 1);
    button("Last", () => steps.length - 1);
    trace.querySelector("summary").after(bar);
    trace.addEventListener("toggle", () => { if (trace.open) show(at); });
    show(0);
  };
  const walks = inside => {
    walking = null;
    for (const part of all("[data-walked]", inside)) {
      const traces = all("details.trace", part);
      if (part.hasAttribute("data-open")) traces.forEach(trace => { trace.open = true; });
      traces.reverse().forEach(walk);
    }
  };
  addEventListener("keydown", event => {
    if (!walking || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(input|select|textarea)$/i.test(event.target.tagName)) return;
    const moves = { ArrowRight: () => walking.go(1), ArrowLeft: () => walking.go(-1), Home: () => walking.to(0), End: () => walking.to(walking.length - 1) };
    if (moves[event.key]) { event.preventDefault(); moves[event.key](); }
  });

  // The text: numbered lines, and marks where something is said.
  const gutter = form.querySelector(".gutter");
  const marks = form.querySelector(".marks");
  const follow = () => {
    gutter.scrollTop = text.scrollTop;
    marks.style.transform = `translate(${-text.scrollLeft}px, ${-text.scrollTop}px)`;
  };
  const number = () => {
    const lines = text.value.split("\n").length;
    while (gutter.children.length > lines) gutter.lastElementChild.remove();
    while (gutter.children.length < lines) {
      const line = document.createElement("div");
      line.textContent = gutter.children.length + 1;
      gutter.append(line);
    }
    follow();
  };
  const mark = () => {
    for (const line of gutter.children) { line.className = ""; line.title = ""; }
    marks.replaceChildren();
    for (const said of all("li[data-line]", by("told"))) {
      const tone = said.classList.contains("bad") ? "bad" : "odd";
      const line = gutter.children[said.dataset.line - 1];
      if (line && line.className !== "bad") { line.className = tone; line.title = said.textContent; }
      const spot = document.createElement("i");
      spot.className = tone;
      spot.style.top = `${(said.dataset.line - 1) * 1.5}em`;
      spot.style.left = `${said.dataset.column - 1}ch`;
      spot.style.width = `${said.dataset.width}ch`;
      marks.append(spot);
    }
    here();
  };
  const here = () => {
    const line = text.value.slice(0, text.selectionStart).split("\n").length;
    for (const said of all("li[data-line]", by("told"))) said.classList.toggle("here", Number(said.dataset.line) === line);
  };
  by("told").addEventListener("click", event => {
    const said = event.target.closest("li[data-line]");
    if (!said || event.target.closest("a")) return;
    const lines = text.value.split("\n");
    const before = lines.slice(0, said.dataset.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    const at = before + Number(said.dataset.column) - 1;
    text.focus();
    text.setSelectionRange(at, at + Number(said.dataset.width));
    text.scrollTop = Math.max(0, (said.dataset.line - 8) * parseFloat(getComputedStyle(text).lineHeight));
    here();
  });
  text.addEventListener("scroll", follow);
  for (const when of ["keyup", "click"]) text.addEventListener(when, here);

  // What the server sends is put where it belongs.
  const put = (answer, target) => {
    const made = document.createElement("template");
    made.innerHTML = answer;
    const parts = all("[data-part]", made.content);
    if (!parts.length && target) { by(target).replaceChildren(made.content); return; }
    for (const part of parts) {
      const at = by(part.dataset.part);
      if (part.dataset.session) { field("session").value = part.dataset.session; kept.set("studio-session", part.dataset.session); }
      if (!at) continue;
      at.replaceChildren(...part.childNodes);
      if (at.id === "told") mark();
      if (at.id === "checked") { walks(at); watch(); }
    }
    for (const fresh of all("select[data-choices]", made.content)) {
      const select = field(fresh.dataset.choices);
      const chosen = select.value;
      select.replaceChildren(...fresh.childNodes);
      select.value = chosen;
      if (select.selectedIndex < 0) select.selectedIndex = 0;
    }
  };
  const wrong = (why, target) => {
    const note = document.createElement("div");
    note.className = "note bad";
    note.textContent = `The server did not answer: ${why.message || why}`;
    by(target).replaceChildren(note);
  };
  const send = async (name, value, target) => {
    const body = new URLSearchParams(new FormData(form));
    body.append(name, value);
    try {
      const answer = await fetch(form.action, { method: "POST", body, headers: { "steadfast-part": "1" } });
      if (answer.status === 401) { location.reload(); return false; }
      return { text: await answer.text() };
    } catch (why) {
      wrong(why, target);
      return false;
    }
  };

  let waiting = 0, asked = 0;
  const look = () => {
    kept.set("studio-text", text.value);
    number();
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const mine = ++asked;
      const answer = await send("do", "look", "told");
      if (answer && mine === asked) put(answer.text, "told");
    }, 250);
  };
  text.addEventListener("input", look);

  // A check that goes on is looked at again.
  let again = 0;
  const watch = () => {
    clearTimeout(again);
    if (!by("checked").querySelector("[data-working]")) return;
    again = setTimeout(async () => {
      const answer = await send("do", "progress", "checked");
      if (answer) put(answer.text, "checked");
    }, 300);
  };

  const targets = { check: "checked", without: "checked", stop: "checked", progress: "checked", look: "told" };
  form.addEventListener("submit", async event => {
    event.preventDefault();
    const button = event.submitter;
    if (!button) return;
    const target = targets[button.value] || "tried";
    button.disabled = true;
    clearTimeout(again);
    const answer = await send(button.name, button.value, target);
    button.disabled = false;
    if (!answer) return;
    put(answer.text, target);
    if (button.isConnected) return;
    const result = by("bench-result");
    (target === "tried" && result ? result : by(target)).focus({ preventScroll: true });
  });

  // In the scratch store: a step that is chosen shows its form, and its guard is looked at while one types.
  let guards = 0, wondered = 0;
  by("tried").addEventListener("change", async event => {
    if (event.target.id !== "step") return;
    const answer = await send("do", "choose", "tried");
    if (answer) { put(answer.text, "tried"); field("step").focus(); }
  });
  by("tried").addEventListener("input", event => {
    if (event.target.id === "step" || !by("bench-guard")) return;
    clearTimeout(guards);
    guards = setTimeout(async () => {
      const mine = ++wondered;
      const answer = await send("do", "would", "bench-guard");
      if (answer && mine === wondered && by("bench-guard")) put(answer.text, "bench-guard");
    }, 150);
  });
  by("tried").addEventListener("keydown", event => {
    if (event.key !== "Enter" || event.target.tagName !== "INPUT") return;
    event.preventDefault();
    const what = event.target.id === "wait_for" ? "button[name=wait][value='']" : "button[value=step]";
    const button = by("tried").querySelector(what);
    if (button && (button.formNoValidate || form.reportValidity())) form.requestSubmit(button);
  });

  // What this tab had before.
  const before = kept.get("studio-text");
  const notice = document.querySelector("[data-kept]");
  if (before !== null && before !== text.value) {
    if (!form.dataset.from) {
      text.value = before;
      look();
    } else if (notice) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiet";
      button.textContent = "Bring back what this tab had before";
      button.addEventListener("click", () => { text.value = before; notice.hidden = true; look(); });
      notice.replaceChildren(button);
      notice.hidden = false;
    }
  }
  number();
  mark();
  walks(document);
  watch();
  const session = kept.get("studio-session");
  if (!field("session").value && session) {
    field("session").value = session;
    send("do", "resume", "tried").then(answer => { if (answer) put(answer.text); });
  }
})();
