/** The web SDK as the service hands it out (WIDGET-1): its version and where its script lies. */

/** Raised with each release of the SDK: a script of one version never changes. */
export const WEB_SDK_VERSION = '1.0.0';

/** What `client.sdk` says. */
export const WEB_SDK_NAME = `web/${WEB_SDK_VERSION}`;

/** The folder of a version's files, with its closing slash. `latest` names the one of this release. */
export function webSdkFolder(version: string): string {
  return `/sdk/web/${version}/`;
}

/** The page that web views of apps show (MOBILE-1). */
export const MOBILE_PAGE_PATH = '/sdk/mobile';

/** The parameter of a page's address with the code of a pairing, which the widget claims when it starts (WIDGET-13). */
export const PAIRING_PARAMETER = 'assistant-pair';
