/** The start of the console app: asks who is signed in, and draws. */
import { render } from 'preact';
import { resumeSession } from './api/session.ts';
import { Shell } from './shell/shell.tsx';

const root = document.getElementById('app');
if (root !== null) render(<Shell />, root);
// The shell shows that the service does not answer, and asks again.
resumeSession().catch(() => undefined);
