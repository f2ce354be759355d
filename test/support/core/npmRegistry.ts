/**
 * A registry of npm on loopback, with packages that a test publishes. It has only what `npm view`
 * and `npx` ask for.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startedByTest } from './leftovers.js';

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly bin?: string | Readonly<Record<string, string>>;
}

export class NpmRegistry {
  /** The names of packages of each request. */
  readonly asked: string[] = [];
  private readonly packages = new Map<string, Record<string, unknown>>();
  private readonly tarballs = new Map<string, Buffer>();
  private readonly forget = startedByTest('a registry', () => this.close());

  private constructor(private readonly server: Server) {}

  static async open(): Promise<NpmRegistry> {
    const server = createServer();
    const registry = new NpmRegistry(server);
    server.on('request', ({ url = '' }, response) => {
      const name = decodeURIComponent(url.slice(1));
      registry.asked.push(name);
      const versions = registry.packages.get(name);
      const tarball = registry.tarballs.get(name);
      const latest = Object.keys(versions ?? {}).at(-1);
      const packument = versions && { name, versions, 'dist-tags': { latest } };
      response.statusCode = packument || tarball ? 200 : 404;
      response.end(tarball ?? JSON.stringify(packument ?? {}));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return registry;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  /** The last version is the latest. */
  publish(manifest: Manifest, files: Readonly<Record<string, string>> = {}): void {
    const { name, version } = manifest;
    const root = mkdtempSync(path.join(tmpdir(), 'published-'));
    try {
      const folder = path.join(root, 'package');
      mkdirSync(folder);
      const all = { 'package.json': JSON.stringify(manifest), ...files };
      for (const [file, text] of Object.entries(all)) writeFileSync(path.join(folder, file), text);
      execFileSync('tar', ['-czf', 'it.tgz', 'package'], { cwd: root });
      const tarball = readFileSync(path.join(root, 'it.tgz'));
      const place = `${name}/-/${version}.tgz`;
      this.tarballs.set(place, tarball);
      const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
      const dist = { tarball: `${this.address}${place}`, integrity };
      this.packages.set(name, {
        ...this.packages.get(name),
        [version]: { ...manifest, dist },
      });
    } finally {
      rmSync(root, { recursive: true });
    }
  }

  async close(): Promise<void> {
    this.forget();
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }
}
