/**
 * Contrast of an appearance, light and dark, and what would mend it (APPEARANCE-7, APPEARANCE-8).
 * Owns the list of checked pairs and the choice of the colour to move.
 *
 * Fixes cannot chase each other: pairs are in an order, all light ones before the dark, and a fix never breaks a pair
 * that holds and stands before its own. Every fix applied therefore leaves a smaller set of failures.
 */
import type { Theme, ThemeDark } from '../setup/appearance.ts';
import { contrastRatio, type Demand, distance, nearestMeeting } from './colour.ts';
import { type ColourToken, type CompleteTheme, completeTheme, deriveDark, NON_TEXT_MINIMUM, TEXT_MINIMUM } from './complete-theme.ts';

/** What is checked: an appearance draft, or any two themes. */
export interface Themes {
  readonly theme: Theme;
  readonly themeDark?: ThemeDark | undefined;
}

export interface ContrastFix {
  /** As PUT /appearance takes it: `accent` of `theme`, or `themeDark.accent`. */
  readonly token: string;
  /** Opaque `#rrggbb`. */
  readonly suggested: string;
}

/** One entry of `warnings` in the reply to PUT /appearance. */
export interface ContrastWarning {
  /** Name of the pair, the same in light and dark; see CONTRAST_PAIRS. */
  readonly check: string;
  /** One sentence for a person; it names both tokens as they are written. */
  readonly what: string;
  /** Two decimals; always below `minimum`. */
  readonly ratio: number;
  readonly minimum: number;
  /** Absent where no value on the same hue passes without breaking a more important pair. */
  readonly fix?: ContrastFix;
}

export interface ContrastPair {
  readonly check: string;
  /** What a person sees; begins the sentence of a warning. */
  readonly subject: string;
  readonly minimum: number;
  readonly foreground: ColourToken;
  readonly background: ColourToken;
  /** Tokens that a fix may move, the first one first where that costs the same. */
  readonly moves: readonly ColourToken[];
}

type Kind = 'text' | 'non-text';

function pair(
  check: string,
  subject: string,
  kind: Kind,
  [foreground, background]: [ColourToken, ColourToken],
  moves: ColourToken[],
): ContrastPair {
  return { check, subject, minimum: kind === 'text' ? TEXT_MINIMUM : NON_TEXT_MINIMUM, foreground, background, moves };
}

/** Every checked pair, the most important first; the page itself (`surface`) is never moved. */
export const CONTRAST_PAIRS: readonly ContrastPair[] = [
  pair('text_on_surface', 'text on the page', 'text', ['onSurface', 'surface'], ['onSurface']),
  pair('text_on_surface_raised', 'text on cards', 'text', ['onSurface', 'surfaceRaised'], ['surfaceRaised', 'onSurface']),
  pair('text_on_surface_high', 'text on panels', 'text', ['onSurface', 'surfaceHigh'], ['surfaceHigh', 'onSurface']),
  pair('text_on_surface_sunk', 'text in fields', 'text', ['onSurface', 'surfaceSunk'], ['surfaceSunk', 'onSurface']),
  pair('muted_text_on_surface', 'muted text on the page', 'text', ['onSurfaceMuted', 'surface'], ['onSurfaceMuted']),
  pair('accent_on_surface', 'the accent on the page', 'non-text', ['accent', 'surface'], ['accent']),
  pair('text_on_accent', 'text on the accent', 'text', ['onAccent', 'accent'], ['onAccent', 'accent']),
  pair('outline_on_surface', 'outlines on the page', 'non-text', ['outline', 'surface'], ['outline']),
  pair('danger_on_surface', 'the danger colour on the page', 'non-text', ['danger', 'surface'], ['danger']),
  pair('text_on_danger', 'text on the danger colour', 'text', ['onDanger', 'danger'], ['onDanger', 'danger']),
  pair('success_on_surface', 'the success colour on the page', 'non-text', ['success', 'surface'], ['success']),
  pair('text_on_success', 'text on the success colour', 'text', ['onSuccess', 'success'], ['onSuccess', 'success']),
];

type Variant = 'theme' | 'themeDark';

interface Check {
  readonly variant: Variant;
  readonly pair: ContrastPair;
}

const CHECKS: readonly Check[] = (['theme', 'themeDark'] as const).flatMap((variant) => CONTRAST_PAIRS.map((pair) => ({ variant, pair })));

interface Look {
  readonly written: Themes;
  readonly served: Readonly<Record<Variant, CompleteTheme>>;
}

interface Move {
  readonly variant: Variant;
  readonly token: ColourToken;
  readonly colour: string;
}

function lookOf(written: Themes): Look {
  return { written, served: { theme: completeTheme(written.theme), themeDark: deriveDark(written.theme, written.themeDark) } };
}

function withMove({ written: { theme, themeDark } }: Look, { variant, token, colour }: Move): Look {
  if (variant === 'theme') return lookOf({ theme: { ...theme, [token]: colour }, themeDark });
  return lookOf({ theme, themeDark: { ...themeDark, [token]: colour } });
}

function ratioOf(look: Look, { variant, pair }: Check): number {
  const colours = look.served[variant];
  return contrastRatio(colours[pair.foreground], colours[pair.background]);
}

export interface MeasuredPair extends Pick<ContrastPair, 'check' | 'subject' | 'minimum' | 'foreground' | 'background'> {
  readonly variant: Variant;
  /** Two decimals; a pair below `minimum` is never rounded up to it. */
  readonly ratio: number;
}

const HUNDREDTH = 100;

/** The contrast of every checked pair as it is served, light ones first. */
export function measuredPairs(themes: Themes): MeasuredPair[] {
  const look = lookOf(themes);
  return CHECKS.map((check) => {
    const { check: name, subject, minimum, foreground, background } = check.pair;
    const ratio = Math.floor(ratioOf(look, check) * HUNDREDTH) / HUNDREDTH;
    return { variant: check.variant, check: name, subject, minimum, foreground, background, ratio };
  });
}

function holds(look: Look, check: Check): boolean {
  return ratioOf(look, check) >= check.pair.minimum;
}

function isWritten(look: Look, variant: Variant, token: ColourToken): boolean {
  return look.written[variant]?.[token] !== undefined;
}

/** What `token` owes to the pairs it is part of; derived colours but the page follow it, so it owes them nothing. */
function demandsOn(token: ColourToken, of: Check, look: Look, counts: (check: Check) => boolean): Demand[] {
  return CHECKS.filter((check) => check.variant === of.variant && (check === of || counts(check))).flatMap((check) => {
    const { foreground, background, minimum } = check.pair;
    if (foreground !== token && background !== token) return [];
    const other = foreground === token ? background : foreground;
    if (check !== of && other !== 'surface' && !isWritten(look, of.variant, other)) return [];
    return [{ against: look.served[of.variant][other], minimum }];
  });
}

/** The smallest of the moves that mend the check when made alone and break no more important pair that holds. */
function smallestSafe(moves: readonly Move[], check: Check, now: Look): Move | undefined {
  const before = CHECKS.slice(0, CHECKS.indexOf(check)).filter((other) => holds(now, other));
  const costOf = (move: Move) => distance(now.served[move.variant][move.token], move.colour);
  return moves
    .map((move) => ({ move, cost: costOf(move) }))
    .sort((one, other) => one.cost - other.cost)
    .find(({ move }) => {
      const then = withMove(now, move);
      return holds(then, check) && before.every((other) => holds(then, other));
    })?.move;
}

/**
 * The move that mends a failing check. The best one satisfies every pair of its token, now and after the moves already
 * suggested; else one that breaks nothing; else one that breaks nothing more important.
 */
function mend(check: Check, now: Look, after: Look): Move | undefined {
  const place = CHECKS.indexOf(check);
  const tokens = check.pair.moves;
  const chosen = tokens.filter((token) => isWritten(now, check.variant, token));
  const attempts: { tokens: readonly ColourToken[]; demands: (token: ColourToken) => Demand[] }[] = [
    { tokens: chosen, demands: (token) => [now, after].flatMap((look) => demandsOn(token, check, look, () => true)) },
    { tokens: chosen, demands: (token) => demandsOn(token, check, now, () => true) },
    { tokens: chosen, demands: (token) => demandsOn(token, check, now, (other) => holds(now, other)) },
    { tokens, demands: (token) => demandsOn(token, check, now, (other) => CHECKS.indexOf(other) < place && holds(now, other)) },
  ];
  for (const { tokens, demands } of attempts) {
    const moves = tokens.flatMap((token) => {
      const colour = nearestMeeting(now.served[check.variant][token], demands(token));
      return colour === undefined ? [] : [{ variant: check.variant, token, colour }];
    });
    const best = smallestSafe(moves, check, now);
    if (best !== undefined) return best;
  }
  return undefined;
}

function nameOf(variant: Variant, token: ColourToken): string {
  return variant === 'theme' ? token : `themeDark.${token}`;
}

/** Two decimals; what fails by less than a hundredth is not shown as if it passed. */
function shown(ratio: number, minimum: number): number {
  const rounded = Math.round(ratio * 100) / 100;
  return rounded < minimum ? rounded : Math.floor(ratio * 100) / 100;
}

function sentence(look: Look, check: Check, ratio: number): string {
  const { variant, pair } = check;
  const told = (token: ColourToken) => {
    const derived = isWritten(look, variant, token) ? '' : ', derived';
    return `${nameOf(variant, token)} (${look.served[variant][token]}${derived})`;
  };
  const where = variant === 'theme' ? '' : ', in the dark theme';
  const subject = `${pair.subject.charAt(0).toUpperCase()}${pair.subject.slice(1)}${where}`;
  return `${subject}: ${told(pair.foreground)} on ${told(pair.background)} has a contrast of ${ratio}:1; at least ${pair.minimum}:1 is needed.`;
}

/**
 * Every pair of the light and the dark theme that fails its minimum, as both are served: with derived tokens. Each fix
 * passes when it is applied alone; applied one by one, with new warnings asked for after each, fixes come to an end.
 * @throws TypeError when a colour is not one.
 */
export function contrastWarnings(draft: Themes): ContrastWarning[] {
  const now = lookOf(draft);
  const suggested: Move[] = [];
  let after = now;
  return CHECKS.filter((check) => !holds(now, check)).map((check) => {
    // A move that another pair asks for already may mend this one as well: one cause, one suggestion.
    let move = suggested.find((one) => holds(after, check) && holds(withMove(now, one), check));
    if (move === undefined) {
      move = mend(check, now, after);
      if (move !== undefined) {
        suggested.push(move);
        after = withMove(after, move);
      }
    }
    const { minimum } = check.pair;
    const ratio = shown(ratioOf(now, check), minimum);
    return {
      check: check.pair.check,
      what: sentence(now, check, ratio),
      ratio,
      minimum,
      ...(move !== undefined && { fix: { token: nameOf(move.variant, move.token), suggested: move.colour } }),
    };
  });
}
