// What the pages gain when scripts may run: answers in place, guards looked at while typing, and
// figures that move. Every page works without.
"use strict";
(() => {
  const all = (what, inside = document) => [...inside.querySelectorAll(what)];
  const kept = {
    get: name => { try { return sessionStorage.getItem(name); } catch { return null; } },
    set: (name, value) => { try { sessionStorage.setItem(name, value); } catch { /* not kept */ } },
  };

  // Light, dark, or as the system says.
  for (const form of all("form[data-theme-switch]")) {
    form.addEventListener("submit", event => {
      event.preventDefault();
      const dark = matchMedia("(prefers-color-scheme: dark)").matches;
      const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
      const next = now === "dark" ? "light" : "dark";
      document.documentElement.dataset.theme = next;
      document.cookie = `steadfast_theme=${next}; path=/console; max-age=31536000; samesite=strict`;
    });
  }

  // The time here, beside the time as it is stored.
  const times = inside => {
    for (const time of all("time[datetime]", inside)) {
      const at = new Date(time.dateTime);
      if (!isNaN(at)) time.title = `${at.toLocaleString()} here`;
    }
  };
  times(document);

  // On a narrow window the menu is a row: the page that is open is to be seen in it.
  const here = document.querySelector(".side [aria-current]");
  if (here) here.closest("ul").scrollLeft = here.offsetLeft - 40;

  // Parts of the page that the server sends anew.
  for (const part of all("[data-live]")) {
    const said = document.getElementById(part.dataset.said);
    const say = (state, words) => {
      if (said) { said.className = `live ${state}`; said.textContent = words; }
    };
    const source = new EventSource(part.dataset.live);
    source.onopen = () => say("on", "live");
    source.onerror = () => say("off", source.readyState === 2 ? "stopped: load the page again" : "connecting again");
    source.addEventListener("replace", event => { part.innerHTML = event.data; times(part); });
    source.addEventListener("row", event => {
      const made = document.createElement("template");
      made.innerHTML = event.data;
      for (const row of [...made.content.children]) {
        const id = row.dataset.revision;
        if (id && all("[data-revision]", part).some(other => other.dataset.revision === id)) continue;
        row.classList.add("new");
        part.prepend(row);
        times(row);
      }
      const empty = document.getElementById(part.dataset.empty);
      if (empty) empty.hidden = true;
      while (part.children.length > 200) part.lastElementChild.remove();
    });
    addEventListener("pagehide", () => source.close());
  }

  // What the caller is to remember lives in this tab: sealed, by the record it is of.
  const place = (form, { dataset: { of, taken, actor, field } }) => {
    const key = taken ? JSON.parse(taken) : of ? all("[name]", form)
      .filter(input => input.name === of || input.name.startsWith(of + "."))
      .map(input => input.value) : [];
    const who = form.elements.namedItem("as");
    const principal = who ? who.value : form.dataset.principal;
    return JSON.stringify([form.dataset.design, actor, principal, field.split(".").pop(), key]);
  };
  const recall = form => {
    for (const input of all("input[data-field]", form)) {
      const at = place(form, input);
      if (input.dataset.at !== at) {
        const given = input.dataset.at === undefined ? input.value : "";
        input.dataset.at = at;
        input.value = kept.get(at) || given;
      }
    }
  };

  const ask = async (form, address) => {
    const answer = await fetch(address, {
      method: "POST", body: new URLSearchParams(new FormData(form)),
      headers: { "steadfast-part": "1" },
    });
    if (answer.status === 401) { location.reload(); return ""; }
    return answer.text();
  };

  for (const form of all("form[data-step]")) {
    const guard = document.getElementById("guard");
    const result = document.getElementById("result");
    const wrong = why => {
      const note = document.createElement("div");
      note.className = "note bad";
      note.textContent = `The server did not answer: ${why.message || why}`;
      return note;
    };
    let waiting = 0, asked = 0;
    const look = () => {
      clearTimeout(waiting);
      waiting = setTimeout(async () => {
        const mine = ++asked;
        recall(form);
        try {
          const text = await ask(form, form.dataset.would);
          if (mine === asked) { guard.innerHTML = text; times(guard); }
        } catch (why) {
          if (mine === asked) guard.replaceChildren(wrong(why));
        }
      }, 120);
    };
    form.addEventListener("input", event => {
      if (!event.target.dataset.field) recall(form);
      look();
    });
    form.addEventListener("submit", async event => {
      if (event.submitter && event.submitter.hasAttribute("formaction")) {
        event.preventDefault();
        look();
        return;
      }
      event.preventDefault();
      const button = form.querySelector("button[type=submit]");
      button.disabled = true;
      try {
        result.innerHTML = await ask(form, form.action);
        times(result);
        for (const one of all("[data-remember]", result)) kept.set(place(form, one), one.textContent);
        for (const input of all("input[data-field]", form)) delete input.dataset.at;
        recall(form);
        for (const fresh of all("input[data-fresh]", form)) {
          if (result.querySelector("[data-done]")) fresh.value = fresh.dataset.fresh + Math.random().toString(16).slice(2, 8);
        }
      } catch (why) {
        result.replaceChildren(wrong(why));
      }
      button.disabled = false;
      result.focus();
      look();
    });
    recall(form);
    look();
  }

  // `/` goes to the box that looks for a record.
  addEventListener("keydown", event => {
    const typing = /^(input|select|textarea)$/i.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      const box = document.querySelector("[data-jump]");
      if (box) { event.preventDefault(); box.focus(); }
    }
  });
})();
