/** A client that uploads files. */
import { FormData, request } from 'undici';
import { DEVICE } from '../../support/client.ts';

export interface Uploaded {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly json: Readonly<Record<string, unknown>>;
  /** '' when it was taken. */
  readonly code: string;
  /** '' when it was not. */
  readonly id: string;
}

export interface UploadFrom {
  readonly baseUrl: string;
  readonly key: string;
  /** '' sends none. */
  readonly device?: string;
}

/** Sends the content as a file of this name, with a type that says nothing. */
export async function upload(
  { baseUrl, key, device = DEVICE }: UploadFrom,
  content: Uint8Array | string,
  name = 'file',
): Promise<Uploaded> {
  const body = new FormData();
  body.append('file', new Blob([content as string], { type: 'application/octet-stream' }), name);
  const headers = { 'X-Service-Key': key, ...(device !== '' && { 'X-Service-Device': device }) };
  const answer = await request(`${baseUrl}/v1/uploads`, { method: 'POST', headers, body });
  const json = (await answer.body.json()) as Record<string, unknown>;
  const { code = '' } = (json.error ?? {}) as { code?: string };
  return { status: answer.statusCode, headers: answer.headers, json, code, id: String(json.upload_id ?? '') };
}
