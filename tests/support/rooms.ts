/** The rooms of the program at the top of the repository, and what of a path is theirs. */
export const ROOMS = ['actors', 'assistant', 'gateway', 'machines', 'program', 'protocol', 'storage', 'watch', 'web'] as const;

/** Where scripts lie as browsers load them, bundled with their libraries. */
const BUNDLED = ['web/console/assets/', 'web/demo/assets/', 'web/sdk/served/'];

/** Whether a path relative to the project, or to its compiled files, is of the program: in a room, or at the root. */
export function isOfProgram(path: string): boolean {
  if (BUNDLED.some((folder) => path.startsWith(folder))) return false;
  return !path.includes('/') || ROOMS.some((room) => path.startsWith(`${room}/`));
}

/** A line at the left margin which awaits, is no comment and begins no function: whatever imports such a module is evaluated later than all else. */
export const AWAITS_AT_TOP = /^(?![ /*]|.*\basync\b).*\bawait\b/m;
