/** What each request to a modern server says of its client. Pure. */
import { isObject } from '../../base/isObject.js';
import { declaredCapabilities, type Fields } from '../../protocol/client.js';
import { metaKeys } from '../../protocol/requestMeta.js';
import { modernVersion } from '../../protocol/versions.js';

/** @param initialize the parameters of the SDK client's initialize */
export function requestMeta(initialize: unknown): Fields {
  const { clientInfo, capabilities } = (initialize ?? {}) as { clientInfo?: unknown; capabilities?: unknown };
  return {
    [metaKeys.protocolVersion]: modernVersion,
    [metaKeys.clientInfo]: clientInfo,
    [metaKeys.clientCapabilities]: capabilitiesOf(isObject(capabilities) ? capabilities : {}),
  };
}

/** Clients of this version do not report changes of their roots. A server asks for them in each request that needs them. */
export function capabilitiesOf(capabilities: Fields): Fields {
  const declared: Fields = declaredCapabilities(capabilities);
  return { ...declared, ...(declared['roots'] !== undefined && { roots: {} }) };
}
