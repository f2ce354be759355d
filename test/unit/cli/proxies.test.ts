/** The proxy of the environment for an address (X2). */
import assert from 'node:assert/strict';
import { proxyAgents } from '../../../src/cli/proxies.js';

const names = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'];

describe('proxies of the environment (X2)', () => {
  const before = new Map<string, string | undefined>();
  beforeEach(() => {
    for (const name of names.flatMap((each) => [each, each.toUpperCase()])) {
      before.set(name, process.env[name]);
      delete process.env[name];
    }
  });
  afterEach(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  const proxyOf = (address: string) => proxyAgents({}).proxyFor(new URL(address));
  const of = (address: string): string | undefined => {
    const proxy = proxyOf(address);
    return proxy?.kind === 'used' ? proxy.host : undefined;
  };

  it('the proxy depends on the scheme, with variables in any case', () => {
    assert.equal(of('http://a.test/'), undefined);
    Object.assign(process.env, {
      HTTP_PROXY: 'http://plain.test:1',
      https_proxy: 'http://me:mine@secret.test:2',
    });
    assert.deepEqual(
      [of('http://a.test/'), of('https://a.test/')],
      ['plain.test:1', 'secret.test:2'],
    );
    Object.assign(process.env, { HTTP_PROXY: '', https_proxy: '', ALL_PROXY: 'http://all.test:3' });
    assert.deepEqual([of('http://a.test/'), of('https://a.test/')], ['all.test:3', 'all.test:3']);
  });

  it('a proxy that cannot be used is named without its address', () => {
    const why = (address: string): string | undefined => {
      const proxy = proxyOf(address);
      return proxy?.kind === 'unusable' ? proxy.why : undefined;
    };
    assert.equal(why('http://a.test/'), undefined);
    Object.assign(process.env, {
      http_proxy: 'socks5://me:mine@p.test:1',
      HTTPS_PROXY: 'not an address',
    });
    assert.match(String(why('http://a.test/')), /^begins with socks5:\/\/, but/);
    assert.equal(why('https://a.test/'), 'is not an address');
    assert.equal(why('http://localhost/'), undefined);
    process.env['http_proxy'] = 'http://p.test:1';
    assert.equal(why('http://a.test/'), undefined);
  });

  it('there is no proxy for hosts of NO_PROXY and for this machine', () => {
    Object.assign(process.env, {
      http_proxy: 'http://p.test:1',
      NO_PROXY: 'a.test, .inside.test:8080,*.wide.test',
    });
    assert.equal(of('http://a.test/'), undefined);
    assert.equal(of('http://x.inside.test:8080/'), undefined);
    assert.equal(of('http://x.inside.test/'), 'p.test:1');
    assert.equal(of('http://x.wide.test/'), undefined);
    assert.equal(of('http://b.test/'), 'p.test:1');
    for (const own of ['localhost', 'tools.localhost', '127.0.0.1:9', '127.1.2.3', '[::1]:9']) {
      assert.equal(of(`http://${own}/`), undefined, own);
    }
  });

  it('there is no proxy for the networks of NO_PROXY', () => {
    Object.assign(process.env, {
      http_proxy: 'http://p.test:1',
      NO_PROXY: 'a.test,10.0.0.0/8 fd00::/8,192.168.0.0/99,x/8,/8',
    });
    for (const inside of ['10.1.2.3', '10.255.255.1:8080', '[fd00::1]'])
      assert.equal(of(`http://${inside}/`), undefined, inside);
    for (const outside of ['11.1.2.3', '192.168.0.1', '[fe00::1]', 'ten.test'])
      assert.equal(of(`http://${outside}/`), 'p.test:1', outside);
    process.env['no_proxy'] = 'b.test';
    assert.equal(of('http://10.1.2.3/'), 'p.test:1', 'the variable in small letters counts');
  });

  it('there is no proxy if the variable names another kind of proxy', () => {
    for (const odd of ['socks5://p.test:1', 'http://', '::']) {
      process.env['http_proxy'] = odd;
      assert.equal(of('http://a.test/'), undefined, odd);
    }
  });
});
