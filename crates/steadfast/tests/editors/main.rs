//! The language server in a real editor: Debian's Neovim, with the settings that users copy.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::cli::support::{folder, folder_with, root, run_in, verdicts};
use crate::programs::program;

/// A text with one mistake, laid out badly.
const DOOR: &str = r#"design Door "Tür é😀"

actor keeper

subject Door(door: text) {
    truth DoorState { open: bool = false, opened: int = 0 }
}

step keeper[open(door: Door) { shut: DoorState.open = false }] {
DoorState.open := true
    DoorSate.opened := 1
}

step keeper[close(door: Door) { open: DoorState.open = true }] { DoorState.open := false }

protocol main { keeper[open] -> keeper[close] => done }

invariant counted: all d in Door: d.open = false or d.opened = 1

check { door: 1  keeper: 1 }
"#;

/// What a person does, one thing after the other; what is seen is written down as JSON.
const DONE: &str = r#"
local seen = {}
local function wait(what, holds)
  if not vim.wait(60000, holds, 50) then
    seen.late = what
  end
  return seen.late == nil
end
local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params, 60000) or {}
  for _, answer in pairs(answers) do
    return answer.result, answer.err or answer.error
  end
end
local function go(pattern)
  vim.fn.cursor(1, 1)
  vim.fn.search(pattern)
end
local function lines()
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end

local function run()
  vim.cmd("edit door.design")
  seen.filetype = vim.bo.filetype
  if not wait("diagnostics", function() return #vim.diagnostic.get(0) > 0 end) then return end
  seen.diagnostics = vim.diagnostic.get(0)

  go("close(door")
  seen.hover = ask("textDocument/hover", vim.lsp.util.make_position_params())

  -- the quick fix
  go("DoorSate")
  local here = vim.lsp.util.make_range_params()
  here.context = { diagnostics = {} }
  local actions = ask("textDocument/codeAction", here)
  seen.action = actions and actions[1]
  if seen.action then
    vim.lsp.util.apply_workspace_edit(seen.action.edit, "utf-16")
  end
  if not wait("no diagnostics", function() return #vim.diagnostic.get(0) == 0 end) then return end

  go("DoorState")
  vim.lsp.buf.rename("Doorway")
  local function renamed()
    return table.concat(lines(), "\n"):find("Doorway.open := false", 1, true) ~= nil
  end
  if not wait("rename", renamed) then return end
  seen.renamed = lines()

  go("step keeper")
  local _, refused = (function()
    local params = vim.lsp.util.make_position_params()
    params.newName = "other"
    return ask("textDocument/rename", params)
  end)()
  seen.refused = refused and refused.message

  if vim.lsp.buf.format then
    vim.lsp.buf.format({ async = false, timeout_ms = 60000 })
  else
    vim.lsp.buf.formatting_sync(nil, 60000)
  end
  seen.formatted = lines()

  -- saved, and so checked
  vim.cmd("write")
  local function proved()
    local lenses = ask("textDocument/codeLens", { textDocument = vim.lsp.util.make_text_document_params() })
    seen.lenses = {}
    for _, lens in ipairs(lenses or {}) do
      table.insert(seen.lenses, lens.command.title)
    end
    return #seen.lenses > 1
  end
  wait("verdict", proved)
end

local fine, problem = pcall(run)
if not fine then
  seen.problem = tostring(problem)
end
vim.fn.writefile({ vim.fn.json_encode(seen) }, "seen.json")
vim.cmd("qall!")
"#;

#[test]
fn neovim_shows_hovers_mends_renames_formats_and_tells_the_verdict() {
    let neovim = program("nvim", &[], "neovim");
    let texts = folder("neovim-texts");
    let folder = folder_with("neovim", "door.design", DOOR);
    std::fs::write(folder.join("done.lua"), DONE).unwrap();
    let settings = root().join("editors/neovim/steadfast.lua");
    let server = env!("CARGO_BIN_EXE_steadfast");
    let status = Command::new(neovim)
        .args(["--headless", "-n", "-i", "NONE", "-u"])
        .arg(&settings)
        .args(["--cmd", &format!("let g:steadfast_path = '{server}'")])
        .args(["-c", "luafile done.lua"])
        .current_dir(&folder)
        .env("STEADFAST_VERDICTS", verdicts(&folder))
        .env("STEADFAST_EDITOR", &texts)
        .env("XDG_STATE_HOME", &texts)
        .env("XDG_CACHE_HOME", &texts)
        .env("HOME", &texts)
        .status()
        .expect("Neovim starts");
    assert!(status.success(), "{status}");
    let seen = std::fs::read_to_string(folder.join("seen.json")).expect("it wrote what it saw");
    let seen: Value = serde_json::from_str(&seen).expect("it is JSON");
    assert_eq!(seen["problem"], Value::Null, "{seen:#}");
    assert_eq!(seen["late"], Value::Null, "it did not come: {seen:#}");
    assert_eq!(seen["filetype"], "steadfast");
    said(&seen);
    edited(&seen, &folder);
}

/// What the editor shows of the mistake.
fn said(seen: &Value) {
    let mistake = &seen["diagnostics"][0];
    assert_eq!(mistake["code"], "E0201", "{mistake:#}");
    assert_eq!((&mistake["lnum"], &mistake["col"]), (&10.into(), &4.into()));
    let message = mistake["message"].as_str().unwrap();
    assert!(message.contains("help: did you mean `DoorState`?"), "{message}");
    let page = &mistake["user_data"]["lsp"]["codeDescription"]["href"];
    assert!(page.as_str().is_none_or(|page| page.ends_with("/E0201.md")), "{mistake:#}");
    let hover = seen["hover"]["contents"]["value"].as_str().unwrap();
    for part in
        ["step keeper[close(door: Door)]", "open: DoorState.open = true", "writes `DoorState.open`"]
    {
        assert!(hover.contains(part), "no `{part}` in\n{hover}");
    }
    assert_eq!(seen["action"]["title"], "change to `DoorState`");
    let refused = seen["refused"].as_str().unwrap();
    assert!(refused.contains("`step` is a word of the language"), "{refused}");
}

/// What became of the text.
fn edited(seen: &Value, folder: &Path) {
    let text = |lines: &Value| {
        let lines = lines.as_array().unwrap().iter();
        lines.map(|line| format!("{}\n", line.as_str().unwrap())).collect::<String>()
    };
    let expected = DOOR.replace("DoorSate", "DoorState").replace("DoorState", "Doorway");
    assert_eq!(text(&seen["renamed"]), expected);
    let formatted = syntax::format(&expected).text;
    assert_ne!(formatted, expected);
    assert_eq!(text(&seen["formatted"]), formatted);
    assert_eq!(std::fs::read_to_string(folder.join("door.design")).unwrap(), formatted);
    let lenses: Vec<&str> =
        seen["lenses"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(lenses, ["proved", "proved"]);
}

/// Whoever types `steadfast lsp` at a shell is told what it is.
#[test]
fn without_an_editor_it_ends_with_a_reason() {
    let ran = run_in(&folder("no-editor"), &["lsp"]);
    ran.exits(2).says("the language server ends: ").says("an editor starts this by itself");
}
