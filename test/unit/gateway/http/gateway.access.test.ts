import assert from 'node:assert/strict';
import {
  hasToken,
  isLocalHost,
  isLocalOrigin,
  strangerAdvice,
} from '../../../../src/core/gateway/http/gateway.js';

describe('gateway: access (G2)', () => {
  describe('Host', () => {
    for (const host of ['127.0.0.1:7', 'localhost:7', '[::1]:7', 'LOCALHOST:7', 'LocalHost:7']) {
      it(`the header Host may be ${host}`, () => assert.equal(isLocalHost(host, 7), true));
    }
    for (const host of [
      undefined,
      '',
      '127.0.0.1',
      '127.0.0.1:8',
      'evil.example:7',
      'localhost:7.evil.example',
      '0.0.0.0:7',
    ]) {
      it(`the header Host may not be ${String(host)}`, () =>
        assert.equal(isLocalHost(host, 7), false));
    }
  });

  it('a refused client learns which hosts are allowed and what to write', () => {
    const advice = strangerAdvice('host.docker.internal:7', 7);
    assert.match(
      advice,
      /Host must be one of 127\.0\.0\.1:7, localhost:7, \[::1\]:7\. Write http:\/\/127\.0\.0\.1:7/,
    );
    assert.match(strangerAdvice('localhost:7', 7), /header Origin names another machine/);
  });

  describe('Origin', () => {
    for (const origin of [
      undefined,
      'http://localhost',
      'http://127.0.0.1:3000',
      'https://[::1]:8443',
      'http://LOCALHOST',
    ]) {
      it(`the header Origin may be ${String(origin)}`, () =>
        assert.equal(isLocalOrigin(origin), true));
    }
    for (const origin of [
      '',
      'null',
      'http://evil.example',
      'http://localhost.evil.example',
      'http://evil.example/http://localhost',
      'http://user@localhost',
      'file://',
      'vscode-webview://x',
    ]) {
      it(`the header Origin may not be ${JSON.stringify(origin)}`, () =>
        assert.equal(isLocalOrigin(origin), false));
    }
  });

  describe('token', () => {
    const token = Buffer.from('s3cret-token');
    for (const header of ['Bearer s3cret-token', 'bearer s3cret-token', 'BEARER  s3cret-token ']) {
      it(`the token is accepted in ${header}`, () => assert.equal(hasToken(header, token), true));
    }
    for (const header of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      's3cret-token',
      'Basic s3cret-token',
      'Bearer s3cret-tokem',
      'Bearer s3cret-token2',
      'Bearer s3cret-toke',
      'Bearer s3cret-token s3cret-token',
    ]) {
      it(`the token is refused in ${String(header)}`, () =>
        assert.equal(hasToken(header, token), false));
    }
  });
});
