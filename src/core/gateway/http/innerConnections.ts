/**
 * Connections between a gateway and a client in its own process. They need no port, no token and no
 * system call, so they also work where a sandbox refuses to listen (G6g).
 */
import type { Server } from 'node:http';
import { Duplex } from 'node:stream';
import type { Disposable } from '../../base/disposables.js';

/** One end of a connection, with what `node:http` expects of a socket. */
export class InnerSocket extends Duplex {
  readonly connecting = false;
  private other: InnerSocket | undefined;
  /** The writer of the other end waits for this end to read. */
  private written: (() => void) | undefined;
  private hasEnded = false;

  static pair(): readonly [InnerSocket, InnerSocket] {
    const near = new InnerSocket();
    const far = new InnerSocket();
    near.other = far;
    far.other = near;
    return [near, far];
  }

  setKeepAlive(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {
    const { written } = this;
    this.written = undefined;
    written?.();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error) => void): void {
    const { other } = this;
    if (!other || other.destroyed) return done(new Error('The connection is closed.'));
    if (chunk.length === 0) return done();
    other.written = done;
    other.push(chunk);
  }

  override _final(done: () => void): void {
    this.other?.takeEnd();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this._read();
    this.other?.takeEnd();
    done(error);
  }

  private takeEnd(): void {
    if (this.hasEnded || this.destroyed) return;
    this.hasEnded = true;
    this.push(null);
  }
}

export class InnerConnections implements Disposable {
  private readonly open = new Set<InnerSocket>();

  constructor(private readonly server: Server) {}

  dispose(): void {
    for (const socket of this.open) socket.destroy();
  }

  /** Returns the client's end of a new connection. */
  connect(): Duplex {
    const [near, far] = InnerSocket.pair();
    this.open.add(far);
    far.once('close', () => this.open.delete(far));
    this.server.emit('connection', far);
    return near;
  }
}
