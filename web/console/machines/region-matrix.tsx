/** A machine of equal regions: where each of them is, regions down and states across. Its picture draws one of them. */
import type { MachinePicture } from '../../../machines/picture.ts';

interface RegionMatrixProps {
  readonly picture: MachinePicture;
  readonly regions: readonly string[];
  readonly active: ReadonlySet<string>;
  readonly shown: string;
  readonly onRegion: (region: string) => void;
  readonly onState: ((state: string) => void) | undefined;
}

export function RegionMatrix({ picture, regions, active, shown, onRegion, onState }: RegionMatrixProps) {
  const states = picture.states.map(({ id }) => id);
  return (
    <div class="regions scroll-both">
      <table class="matrix">
        <thead>
          <tr>
            <th scope="col">Region</th>
            {states.map((state) => (
              <th key={state} scope="col">
                <code>{state}</code>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {regions.map((region) => (
            <tr key={region} class={region === shown ? 'is-shown' : ''}>
              <th scope="row">
                <button type="button" class="link" aria-pressed={region === shown} onClick={() => onRegion(region)}>
                  <code>{region}</code>
                </button>
              </th>
              {states.map((state) => (
                <td key={state}>
                  {onState === undefined ? (
                    <span class={active.has(`${region}.${state}`) ? 'dot is-on' : 'dot'}>
                      {active.has(`${region}.${state}`) && <span class="unseen">here</span>}
                    </span>
                  ) : (
                    <button
                      type="button"
                      class={active.has(`${region}.${state}`) ? 'dot is-on' : 'dot'}
                      aria-label={
                        active.has(`${region}.${state}`) ? `${region} is ${state}` : `Take the shortest way to ${region}: ${state}`
                      }
                      onClick={() => onState(`${region}.${state}`)}
                    />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
