/**
 * Bounds what sockets that have not shown the token can cost, however many they are (G2). A socket that comes while
 * there are too many ends the one that came first, so that an honest client, which shows the token at once, always gets
 * in.
 */
import type { Socket } from 'node:net';

export const mostStrangers = 64;

export class Strangers {
  /** The sockets in the order in which they came. */
  private readonly sockets = new Set<Socket>();

  add(socket: Socket): void {
    if (this.sockets.size >= mostStrangers) {
      const [first] = this.sockets;
      if (first) this.end(first);
    }
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
  }

  /** Notes that the socket has shown the token. */
  admit(socket: Socket): void {
    this.sockets.delete(socket);
  }

  private end(socket: Socket): void {
    this.sockets.delete(socket);
    socket.destroy();
  }
}
