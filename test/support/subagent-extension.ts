// A pi extension with a tool that runs a subagent inside pi's own process, as popular packages do.
// Loads the extensions that SUBAGENT_EXTENSIONS names, separated by the system's path delimiter; keeps nothing.

import { delimiter } from "node:path";
import {
	createAgentSession,
	DefaultResourceLoader,
	type ExtensionAPI,
	getAgentDir,
	SessionManager,
} from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

export default function subagent(pi: ExtensionAPI): void {
	pi.registerTool({
		name: "subagent",
		label: "Subagent",
		description: "Let a subagent do it",
		parameters: Type.Object({}),
		async execute(_id, _params, _signal, _onUpdate, ctx) {
			const { cwd, model } = ctx;
			const resourceLoader = new DefaultResourceLoader({
				cwd,
				agentDir: getAgentDir(),
				noExtensions: true,
				additionalExtensionPaths: (process.env.SUBAGENT_EXTENSIONS ?? "").split(delimiter),
			});
			await resourceLoader.reload();
			const sessionManager = SessionManager.inMemory(cwd);
			const { session } = await createAgentSession({ cwd, resourceLoader, sessionManager, ...(model && { model }) });
			await session.bindExtensions({ mode: "print" });
			await session.prompt("Do it.");
			await session.extensionRunner.emit({ type: "session_shutdown", reason: "quit" });
			session.dispose();
			const text = `The subagent ${session.sessionId} has done it.`;
			return { content: [{ type: "text", text }], details: undefined };
		},
	});
}
