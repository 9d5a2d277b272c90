// Runs ADK for JavaScript against memoryd, unmodified, by configuration alone. The last line says how
// many checks passed.
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

// The package is installed in the working directory, and this file is not there.
const require = createRequire(pathToFileURL(process.cwd() + '/'));
const {VertexAiSessionService, VertexAiMemoryBankService} =
  await import(pathToFileURL(require.resolve('@google/adk')));

const at = {projectId: 'p', location: 'memoryd', agentEngineId: 'js'};
const service = new VertexAiSessionService(at);
const bank = new VertexAiMemoryBankService(at);
const appName = 'js';
const said = (id, text, role = 'user') => ({
  id, author: role, invocationId: 'i', timestamp: Date.now(), content: {role, parts: [{text}]},
  actions: {stateDelta: {[id]: 1, 'user:last': id}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {}},
});
const find = async (userId, query) =>
  (await bank.searchMemory({appName, userId, query})).memories.map(m => m.content.parts[0].text);

const checks = {
  async 'a session with its state'() {
    const made = await service.createSession({appName, userId: 'a/"ü', state: {k: 1, 'user:u': 2}, sessionId: 'own'});
    assert.equal(made.id, 'own');
    const got = await service.getSession({appName, userId: 'a/"ü', sessionId: 'own'});
    assert.deepEqual(got.state, {k: 1, 'user:u': 2});
    await service.deleteSession({appName, userId: 'a/"ü', sessionId: 'own'});
    assert.equal(await service.getSession({appName, userId: 'a/"ü', sessionId: 'own'}), undefined);
  },
  async 'more events than a page of Google has'() {
    const session = await service.createSession({appName, userId: 'many'});
    for (let i = 0; i < 105; i++) {
      await service.appendEvent({session, event: said(`e${i}`, `n${i}`)});
    }
    const got = await service.getSession({appName, userId: 'many', sessionId: session.id});
    assert.deepEqual(got.events.map(e => e.content.parts[0].text), Array.from({length: 105}, (_, i) => `n${i}`));
    assert.equal(got.state['user:last'], 'e104');
  },
  async 'sessions of a user'() {
    const made = [];
    for (let i = 0; i < 3; i++) {
      made.push((await service.createSession({appName, userId: 'list'})).id);
    }
    const got = await service.listSessions({appName, userId: 'list'});
    assert.deepEqual(got.sessions.map(s => s.id).sort(), made.sort());
  },
  async 'memories of a session'() {
    let session = await service.createSession({appName, userId: 'ann'});
    for (const [id, text] of [['e1', 'I live in Graz.'], ['e2', 'I am allergic to peanuts.']]) {
      await service.appendEvent({session, event: said(id, text)});
      session = await service.getSession({appName, userId: 'ann', sessionId: session.id});
      await bank.addSessionToMemory(session); // all of it each time
    }
    assert.equal((await find('ann', 'Where does the user live?')).filter(x => x === 'I live in Graz.').length, 1);
    assert.equal((await find('ann', 'peanuts'))[0], 'I am allergic to peanuts.');
  },
  async 'memories as they are given'() {
    const entry = text => ({content: {role: 'user', parts: [{text}]}});
    await bank.addMemory({appName, userId: 'eve', memories: [entry('Eve works as a nurse.')],
      customMetadata: {enable_consolidation: true}});
    await bank.addMemory({appName, userId: 'eve', memories: [entry('Eve plays chess.')]});
    assert.equal((await find('eve', 'nurse'))[0], 'Eve works as a nurse.');
    assert.equal((await find('eve', 'chess'))[0], 'Eve plays chess.');
    assert.deepEqual(await find('bob', 'nurse'), []);
  },
};

let passed = 0, failed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    passed++;
  } catch (e) {
    failed++;
    console.log(`FAIL ${name}: ${e.stack}`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
