/** Unpacks the browser into the run's folder, before files of tests that stand side by side would do so at once: one would start what another one still writes. */
import packed from '@sparticuz/chromium';

await packed.executablePath();
