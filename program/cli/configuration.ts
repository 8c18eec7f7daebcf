/** Commands about the configuration, which need no running service (RUN-41, RUN-42). */
import { type Command, CommandFailed } from './command.ts';
import { table } from './table.ts';

export const configCommand: Command = {
  name: 'config',
  usage: '',
  does: 'Prints every variable, what is in force and where it came from; secrets are cut.',
  arity: [0, 0],
  options: {},
  run(call) {
    const settings = call.settings();
    const shown = (value: string | null, source: string) => value ?? (source === 'environment' ? '(set, not shown)' : '-');
    const rows = settings.map(({ name, value, source }) => [name, shown(value, source), source]);
    call.answer({ settings }, table(['VARIABLE', 'VALUE', 'SOURCE'], rows));
  },
};

export const doctorCommand: Command = {
  name: 'doctor',
  usage: '',
  does: 'Checks the configuration against disk, system, Redis, model, mail, replica and proxy, and says what to change.',
  arity: [0, 0],
  options: {},
  async run(call) {
    const findings = await call.examine();
    const remarks = findings.filter(({ isRemark }) => isRemark).length;
    const wire = findings.map(({ about, isRemark, says }) => ({ about, remark: isRemark, says }));
    const width = Math.max(...findings.map(({ about }) => about.length));
    const lines = findings.map(({ about, isRemark, says }) => `${isRemark ? '!' : ' '} ${about.padEnd(width)}  ${says}`);
    call.answer({ findings: wire, remarks }, lines.join('\n'));
    if (remarks > 0)
      throw new CommandFailed(`${remarks === 1 ? 'One remark' : `${remarks} remarks`}: see the lines with an exclamation mark.`);
    call.note('No remark.');
  },
};
