/** A trace from a file: read, replayed and shown in this page alone. */
import { useState } from 'preact/hooks';
import { readTraceFile, TRACE_FILE_MAX_BYTES } from '../../../machines/trace-file.ts';
import { Page } from '../shell/page.tsx';
import { TraceView } from './trace-view.tsx';
import { type Trace, traceOfFile } from './traces.ts';

const CRUMBS = [{ label: 'Traces', href: '/console/traces' }];

interface Opened {
  readonly name: string;
  readonly trace?: Trace;
  readonly fault?: string;
}

async function open(file: File): Promise<Opened> {
  const { name, size } = file;
  if (size > TRACE_FILE_MAX_BYTES) return { name, fault: `This is no trace: it has more than ${TRACE_FILE_MAX_BYTES / 1_000_000} MB.` };
  try {
    return { name, trace: traceOfFile(readTraceFile(await file.text())) };
  } catch (error) {
    return { name, fault: error instanceof Error ? error.message : 'This file cannot be read.' };
  }
}

export function TraceFilePage() {
  const [opened, hold] = useState<Opened>();
  const facts = opened?.trace === undefined ? 'Nothing of it leaves this page.' : `${opened.name}. Nothing of it leaves this page.`;
  return (
    <Page fills={opened?.trace !== undefined} title="A trace from a file" crumbs={CRUMBS} facts={facts}>
      {opened?.fault !== undefined && (
        <p class="problem" role="alert">
          {opened.fault}
        </p>
      )}
      {opened?.trace === undefined ? (
        <label class="empty">
          <span>A trace that was downloaded here, or that a test wrote when it failed. Choose the file:</span>
          <input
            type="file"
            accept=".json,application/json"
            onChange={({ currentTarget: { files } }) => {
              const [file] = files ?? [];
              if (file !== undefined) void open(file).then(hold);
            }}
          />
        </label>
      ) : (
        <TraceView traces={[opened.trace]} />
      )}
    </Page>
  );
}
