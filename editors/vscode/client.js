// Starts `steadfast lsp` and connects it with VS Code.

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

async function start() {
  const settings = vscode.workspace.getConfiguration("steadfast");
  const program = {
    command: settings.get("path"),
    args: ["lsp", ...settings.get("arguments")],
    transport: TransportKind.stdio,
  };
  const options = {
    documentSelector: [{ language: "steadfast" }],
    middleware: {
      // the history of a broken goal is a text of its own, not a message in a corner
      async executeCommand(command, parameters, next) {
        const answer = await next(command, parameters);
        if (command === "steadfast.history" && typeof answer === "string") {
          const document = await vscode.workspace.openTextDocument({ content: answer });
          await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside });
        }
        return answer;
      },
    },
  };
  client = new LanguageClient("steadfast", "Steadfast", program, options);
  try {
    await client.start();
  } catch (problem) {
    vscode.window.showErrorMessage(
      `Steadfast: cannot start \`${program.command} lsp\` (${problem.message}). ` +
        "Set `steadfast.path` to the program."
    );
  }
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("steadfast.restart", async () => {
      await deactivate();
      await start();
    })
  );
  await start();
}

async function deactivate() {
  if (client?.isRunning()) {
    await client.stop();
  }
}

module.exports = { activate, deactivate };
