// Opens session files with Pi's own SessionManager and says what it makes of them, as JSON.
// usage: node open_in_pi.mjs PACKAGE_FOLDER < {"files": [{"path": ..., "leaves": [...]}]}
// The files must be copies: opening may rewrite one; `rewritten` tells.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const { SessionManager } = await import(pathToFileURL(join(folder, "dist", "core", "session-manager.js")));
const { files } = JSON.parse(readFileSync(0, "utf8"));

const context = (manager) => {
  const made = manager.buildSessionContext();
  return { messages: made.messages, thinkingLevel: made.thinkingLevel, model: made.model };
};

const answers = files.map(({ path, leaves }) => {
  const before = readFileSync(path, "utf8");
  try {
    const manager = SessionManager.open(path);
    const entries = manager.getEntries();
    const answer = {
      header: manager.getHeader(),
      leaf: manager.getLeafId(),
      ids: entries.map((entry) => entry.id),
      path: manager.getBranch().map((entry) => entry.id),
      name: manager.getSessionName() ?? null,
      labels: Object.fromEntries(
        entries.map(({ id }) => [id, manager.getLabel(id)]).filter(([, label]) => label !== undefined),
      ),
      context: context(manager),
      contexts: {},
    };
    for (const leaf of leaves ?? []) {
      manager.branch(leaf);
      answer.contexts[leaf] = context(manager);
    }
    answer.rewritten = readFileSync(path, "utf8") !== before;
    return answer;
  } catch (error) {
    return { error: String(error) };
  }
});
process.stdout.write(JSON.stringify({ version, answers }));
