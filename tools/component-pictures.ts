/**
 * Pictures of all components in every state: taken for the documents, and compared with those there. A picture is compared state by state and
 * coarsely, so that a face that another machine draws a little differently is no difference, and a drawing that fell apart is one.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { BrowserWorld } from '../tests/browser/browser.ts';
import { projectRoot } from '../tests/support/project-root.ts';

/** The queries of the page of components, by the name of the picture. */
export const LOOKS = { light: '?scheme=light', dark: '?scheme=dark', rtl: '?scheme=light&dir=rtl' } as const;
export type Look = keyof typeof LOOKS;

const FOLDER = join(projectRoot(), 'docs', 'images', 'components');

/** Where a state stands in the picture of its component, in its pixels. */
export interface Place {
  readonly name: string;
  readonly box: readonly [x: number, y: number, width: number, height: number];
}

/** A component in all of its states. */
export interface Taken {
  readonly type: string;
  readonly picture: Buffer;
  readonly places: readonly Place[];
}

const JPEG_QUALITY = 60;
const fileOf = (type: string, look: Look) => join(FOLDER, `${type}-${look}.jpg`);
const placesFile = (look: Look) => join(FOLDER, `places-${look}.json`);

/** Takes the pictures of all components. */
export async function takeLook(world: BrowserWorld, look: Look): Promise<readonly Taken[]> {
  const viewport = { width: 1_280, height: 900 };
  const { context, page } = await world.open({ viewport, reducedMotion: 'reduce', timezoneId: 'Europe/Berlin', locale: 'en-GB' });
  await page.goto(`${world.service.baseUrl}/demo/components${LOOKS[look]}`);
  await page.locator('.bars svg').first().waitFor();
  // What stays in view lies over whatever component is beneath it.
  await page.evaluate(() => {
    for (const bar of document.querySelectorAll<HTMLElement>('header, nav')) bar.style.position = 'static';
  });
  // Pictures are loaded when they come near.
  await page.evaluate(async () => {
    for (const image of document.querySelectorAll('img')) image.loading = 'eager';
    await Promise.all([...document.images].map((image) => image.decode().catch(() => undefined)));
    await document.fonts.ready;
  });
  await page.waitForLoadState('networkidle');
  const taken: Taken[] = [];
  for (const section of await page.locator('.component').all()) {
    const picture = await section.screenshot({ type: 'jpeg', quality: JPEG_QUALITY, animations: 'disabled', caret: 'hide' });
    const { type, places } = await section.evaluate((element) => {
      const from = element.getBoundingClientRect();
      const figures = [...element.querySelectorAll('figure')].map((figure): Place => {
        const { x, y, width, height } = figure.getBoundingClientRect();
        const name = figure.querySelector('figcaption')?.textContent ?? '';
        return { name, box: [Math.round(x - from.x), Math.round(y - from.y), Math.round(width), Math.round(height)] };
      });
      return { type: element.id, places: figures };
    });
    taken.push({ type, picture, places });
  }
  await context.close();
  return taken;
}

/** Puts the pictures among those of the documents. */
export function keepLook(look: Look, taken: readonly Taken[]): void {
  mkdirSync(FOLDER, { recursive: true });
  for (const { type, picture } of taken) writeFileSync(fileOf(type, look), picture);
  const lines = taken.map(({ type, places }) => `  ${JSON.stringify(type)}: ${JSON.stringify(places)}`);
  writeFileSync(placesFile(look), `{\n${lines.join(',\n')}\n}\n`);
}

/** The pictures of the documents. */
export function keptLook(look: Look): readonly Taken[] {
  const places = JSON.parse(readFileSync(placesFile(look), 'utf8')) as Readonly<Record<string, readonly Place[]>>;
  return Object.entries(places).map(([type, each]) => ({ type, picture: readFileSync(fileOf(type, look)), places: each }));
}

/** The share of a state's coarse points, 0 to 1, whose light differs plainly. */
export interface Difference {
  readonly name: string;
  readonly share: number;
}

/** Compares each state of the one with the other's of the same name. */
export function differences(page: Page, one: Taken, other: Taken): Promise<readonly Difference[]> {
  const pairs = one.places.map((place) => [place, other.places.find(({ name }) => name === place.name) ?? place] as const);
  const data = (picture: Buffer) => `data:image/jpeg;base64,${picture.toString('base64')}`;
  return page.evaluate(
    async ([type, first, second, compared]) => {
      /** Pixels that become one point, so that a glyph that moves by one is none. */
      const COARSE = 8;
      /** Of 255: less is smoothing and compression. */
      const PLAIN = 40;
      const load = async (src: string) => {
        const image = new Image();
        image.src = src;
        await image.decode();
        return image;
      };
      const [a, b] = [await load(first), await load(second)];
      const lights = (image: HTMLImageElement, [x, y]: Place['box'], width: number, height: number) => {
        const canvas = document.createElement('canvas');
        canvas.width = Math.max(1, Math.ceil(width / COARSE));
        canvas.height = Math.max(1, Math.ceil(height / COARSE));
        const context = canvas.getContext('2d', { willReadFrequently: true });
        if (context === null) throw new Error('no canvas');
        context.imageSmoothingQuality = 'high';
        context.drawImage(image, x, y, width, height, 0, 0, canvas.width, canvas.height);
        return context.getImageData(0, 0, canvas.width, canvas.height).data;
      };
      return compared.map(([place, against]) => {
        const [width, height] = [Math.max(place.box[2], against.box[2]), Math.max(place.box[3], against.box[3])];
        const [left, right] = [lights(a, place.box, width, height), lights(b, against.box, width, height)];
        let different = 0;
        for (let at = 0; at < left.length; at += 4) {
          const apart = [0, 1, 2].map((channel) => Math.abs((left[at + channel] ?? 0) - (right[at + channel] ?? 0)));
          if (Math.max(...apart) > PLAIN) different++;
        }
        return { name: `${type} ${place.name}`, share: different / (left.length / 4) };
      });
    },
    [one.type, data(one.picture), data(other.picture), pairs] as const,
  );
}
