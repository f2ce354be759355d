import type { Endpoint } from './httpClient.js';
import type { Program } from './program.js';

/** The product publishes a toolset to each on its own road. */
export type EndpointRoad = 'editor' | 'agent';

/** @param engine the program `engine`, started */
export function endpointOf(engine: Program, id: string, road: EndpointRoad): Promise<Endpoint> {
  return engine.ask<Endpoint>('endpoint', { id, road });
}
