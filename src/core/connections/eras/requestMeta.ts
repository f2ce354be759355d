/** What each request to a modern server says of its client. Pure. */
import { isObject } from '../../base/isObject.js';
import { declaredCapabilities, type Fields } from '../../protocol/client.js';
import { otherExtensions } from '../../protocol/extensions.js';
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

/**
 * Roots do not say any more that they change: they are asked for in each request that needs them. A server that knows of
 * other extensions cannot ask by them what does not pass: it asks by its results.
 */
export function capabilitiesOf(capabilities: Fields): Fields {
  const declared: Fields = declaredCapabilities(capabilities);
  const others = otherExtensions(capabilities);
  return {
    ...declared,
    ...(declared['roots'] !== undefined && { roots: {} }),
    ...(Object.keys(others).length > 0 && { extensions: { ...(declared['extensions'] as Fields), ...others } }),
  };
}
