// Hands pi's own events to Woodwind: one JSON object per event, to the command in WOODWIND_HOOK.
// Loaded for one run with --extension; it changes nothing that pi does.
import { spawnSync } from "node:child_process";

type Facts = Record<string, unknown>;

export default function (pi: any) {
  const hook = process.env.WOODWIND_HOOK;
  if (!hook) return;
  let turn = 0;
  let prompt = "";
  let outcome: Facts = {};

  // Synchronous, so that events keep their order and the last one is out before pi is gone.
  function tell(event: string, ctx: any, facts: Facts = {}) {
    const session = ctx?.sessionManager?.getSessionId?.() ?? "";
    const payload = JSON.stringify({ event, session, prompt_id: prompt, ...facts });
    try {
      spawnSync("/bin/sh", ["-c", hook as string], { input: payload, stdio: ["pipe", "ignore", "ignore"], timeout: 10000 });
    } catch {
      // An event that cannot be told must not disturb the agent.
    }
  }

  function begin(ctx: any) {
    turn += 1;
    prompt = `${ctx?.sessionManager?.getSessionId?.() ?? "pi"}:${process.pid}:${turn}`;
    outcome = {};
  }

  // What a message says, without the parts that are no words.
  function words(message: any): string {
    const content = message?.content ?? [];
    if (typeof content === "string") return content;
    return content.filter((part: any) => part.type === "text").map((part: any) => part.text).join("\n");
  }

  pi.on("session_start", async (event: any, ctx: any) => {
    prompt = "";
    tell("session_start", ctx, { reason: event.reason });
  });
  pi.on("input", async (event: any, ctx: any) => {
    // Typed into a running turn, it belongs to that turn.
    if (!event.streamingBehavior) begin(ctx);
    tell("input", ctx, { text: event.text });
  });
  pi.on("agent_start", async (_event: any, ctx: any) => {
    if (!prompt) begin(ctx);
    tell("agent_start", ctx);
  });
  pi.on("tool_call", async (event: any, ctx: any) => tell("tool_call", ctx, { tool: event.toolName }));
  pi.on("tool_result", async (event: any, ctx: any) => tell("tool_result", ctx, { tool: event.toolName }));
  pi.on("ui_prompt_start", async (event: any, ctx: any) =>
    tell("ui_prompt_start", ctx, { kind: event.kind, text: event.title ?? "" }));
  pi.on("ui_prompt_end", async (_event: any, ctx: any) => tell("ui_prompt_end", ctx));
  pi.on("agent_end", async (event: any) => {
    const last = [...(event.messages ?? [])].reverse().find((message: any) => message.role === "assistant");
    outcome = { stop: last?.stopReason ?? "", text: words(last), error: last?.errorMessage ?? "" };
  });
  // It comes once all retries and queued messages are through; agent_end may come several times before.
  pi.on("agent_settled", async (_event: any, ctx: any) => tell("agent_settled", ctx, outcome));
  pi.on("session_shutdown", async (event: any, ctx: any) => tell("session_shutdown", ctx, { reason: event.reason }));
}
