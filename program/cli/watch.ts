/** Command: prints the steps of a turn, a conversation, a setup session, a knowledge source, a pairing or an app as they are committed (TRACE-13). */
import * as v from 'valibot';
import { machineOfId } from '../../machines/instance-ids.ts';
import { type Call, type Command, CommandFailed } from './command.ts';

const named = v.looseObject({ type: v.string() });
const answerSchema = v.object({
  traces: v.array(
    v.object({
      trace: v.object({
        machine: v.string(),
        instance: v.string(),
        steps: v.array(v.object({ at_ms: v.number(), event: named, from: v.string(), to: v.string(), effects: v.array(named) })),
      }),
    }),
  ),
});
type Trace = v.InferOutput<typeof answerSchema>['traces'][number]['trace'];

const LOOK_MS = 500;
/** States that a turn leaves no more. */
const OVER: ReadonlySet<string> = new Set(['completed', 'continued']);

const isConversation = (id: string) => id.startsWith('cnv_');

/** What the id is of: those that the service mints say it. */
function queryOf(id: string): string {
  if (isConversation(id)) return `conversation_id=${encodeURIComponent(id)}`;
  const machine = machineOfId(id);
  if (machine !== undefined) return `machine=${machine}&instance=${encodeURIComponent(id)}`;
  return `turn_id=${encodeURIComponent(id)}`;
}

/** What else an id may be that the service did not mint: `x-request-id` of an answer, `request_id` of a log line. */
const requestQuery = (id: string) => `request_id=${encodeURIComponent(id)}`;

function linesOf({ machine, instance, steps }: Trace, from: number): string[] {
  return steps.slice(from).map((step) => {
    const effects = step.effects.map(({ type }) => type).join(' ');
    const moved = step.from === step.to ? step.from : `${step.from} → ${step.to}`;
    return `${new Date(step.at_ms).toISOString()}  ${machine} ${instance}  ${step.event.type}  ${moved}  ${effects}`.trimEnd();
  });
}

async function watch(call: Call): Promise<void> {
  const [app = '', id = ''] = call.args;
  const service = call.service();
  const read = (query: string) => service.ask('GET', `/apps/${encodeURIComponent(app)}/traces?${query}`, answerSchema);
  let query = queryOf(id);
  if (query.startsWith('turn_id=')) await read(query).catch(() => (query = requestQuery(id)));
  const told = new Map<string, number>();
  for (;;) {
    const { traces } = await read(query);
    for (const { trace } of traces) {
      const key = `${trace.machine} ${trace.instance}`;
      for (const line of linesOf(trace, told.get(key) ?? 0)) call.print(line);
      told.set(key, trace.steps.length);
    }
    const first = traces[0]?.trace;
    if (first === undefined) throw new CommandFailed(`Nothing is kept of ${id}.`);
    if (call.flag('once') || (!isConversation(id) && first.machine === 'chat-turn' && OVER.has(first.steps.at(-1)?.to ?? ''))) return;
    await call.pause(LOOK_MS);
  }
}

export const watchCommand: Command = {
  name: 'watch',
  usage: '<app> <id>',
  does: 'Prints the steps of a turn (by its turn_id, or the request id of an answer or a log line), a conversation, a call, a setup session, a knowledge source, a pairing or an app as they are committed.',
  arity: [2, 2],
  options: { once: { does: 'print what there is and end' } },
  run: watch,
};
