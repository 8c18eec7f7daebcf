/** Components that say something: text, section, key_points, disclosure, info_card, code. */
import * as v from 'valibot';
import { KNOWLEDGE_KEY_MAX_CHARS } from '../limits.ts';
import { flag } from '../schema/bounded.ts';
import { text } from '../schema/text.ts';
import { defineComponent } from './component.ts';
import { action, checkActions, image, lines, saidAction, saidList, tone } from './shapes.ts';
import { usedAs } from './text-uses.ts';
import { anyList, list, markdown, said, webUrl, words } from './values.ts';

export const textBlock = defineComponent({
  name: 'text',
  description: 'Plain words of the assistant. Written as the answer itself, never called.',
  offered: false,
  entries: { md: markdown(8_000) },
  fallback: ({ md }) => md,
});

export const section = defineComponent({
  name: 'section',
  description: 'A titled part of a longer answer. When an answer covers several topics.',
  entries: {
    title: words(80),
    md: markdown(2_000),
    icon: v.optional(usedAs(said(text(40), 'Icon name, as truck.'), 'key')),
    collapsed: v.optional(flag),
  },
  fallback: ({ title, md }) => `${title}\n${md}`,
});

/** Points, and sources of each. */
const POINTS_MAX = 7;
const POINT_SOURCES_MAX = 3;

export const keyPoints = defineComponent({
  name: 'key_points',
  description: 'The few points to take away. To sum up a long answer or a document.',
  entries: {
    title: v.optional(text(80)),
    points: list(
      v.strictObject({
        text: words(200),
        tone: v.optional(tone),
        sources: v.optional(said(list(words(KNOWLEDGE_KEY_MAX_CHARS), 0, POINT_SOURCES_MAX), 'Keys of passages used.')),
      }),
      1,
      POINTS_MAX,
    ),
  },
  kept: {
    links: v.optional(
      said(
        list(v.strictObject({ source: words(KNOWLEDGE_KEY_MAX_CHARS), url: webUrl }), 0, POINTS_MAX * POINT_SOURCES_MAX),
        'Where the sources that have an address can be read.',
      ),
    ),
  },
  fallback: ({ title, points }) => saidList(title, [points.map((point) => `• ${point.text}`).join('\n')]),
});

export const disclosure = defineComponent({
  name: 'disclosure',
  description: 'Details behind one line. For terms, fine print and background that few will read.',
  entries: { summary: words(120), md: markdown(4_000), open: v.optional(flag) },
  fallback: ({ summary, md }) => `${summary}\n${md}`,
});

export const infoCard = defineComponent({
  name: 'info_card',
  description: 'A notice: a success, a warning, a policy. For the one thing not to overlook.',
  entries: {
    title: words(80),
    md: markdown(1_000),
    tone,
    image: v.optional(image),
    actions: anyList(action, 3),
  },
  inContext: ({ actions }, context, report) => checkActions(actions, 'actions', context, report),
  fallback: ({ title, md, actions }) => lines(title, md, saidList(undefined, actions.map(saidAction))),
});

export const code = defineComponent({
  name: 'code',
  description: 'Code, a command or a configuration. For what must be copied to the letter.',
  entries: {
    language: usedAs(said(text(20), 'As json; text when it has none.'), 'key'),
    code: words(8_000),
    filename: v.optional(text(80)),
  },
  fallback: ({ filename, code: source }) => (filename ? `${filename}\n${source}` : source),
});
