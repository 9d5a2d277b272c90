import com.google.adk.events.Event;
import com.google.adk.events.EventActions;
import com.google.adk.sessions.GetSessionConfig;
import com.google.adk.sessions.Session;
import com.google.adk.sessions.VertexAiSessionService;
import com.google.genai.types.Content;
import com.google.genai.types.Part;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Runs ADK for Java against memoryd, unmodified. The last line says how many checks passed. */
public final class Check {
  interface Body {
    void run() throws Exception;
  }

  static final String APP = "77";
  static VertexAiSessionService service;

  static void same(Object got, Object want) {
    if (!want.equals(got)) {
      throw new AssertionError("got " + got + ", want " + want);
    }
  }

  static Session create(String user, Map<String, Object> state, String id) {
    return service.createSession(APP, user, new ConcurrentHashMap<>(state), id).blockingGet();
  }

  static Session get(Session s) {
    return service.getSession(APP, s.userId(), s.id(), Optional.<GetSessionConfig>empty()).blockingGet();
  }

  static void say(Session s, String id, String text, Map<String, Object> delta, long time) {
    Event event = Event.builder().id(id).invocationId("i").author("user").timestamp(time)
        .content(Content.fromParts(Part.fromText(text)))
        .actions(EventActions.builder().stateDelta(new ConcurrentHashMap<>(delta)).build()).build();
    service.appendEvent(s, event).blockingGet();
  }

  static List<String> texts(Session s) {
    List<String> out = new ArrayList<>();
    for (Event e : s.events()) {
      out.add(e.content().get().parts().get().get(0).text().get());
    }
    return out;
  }

  public static void main(String[] args) {
    service = new VertexAiSessionService("p", "memoryd", null, null);
    Map<String, Body> checks = new LinkedHashMap<>();
    checks.put("a session with its state", () -> {
      Session s = create("ann", Map.of("k", "v", "user:u", "w"), null);
      same(get(s).id(), s.id());
      same(get(s).state().get("k"), "v");
      same(get(create("ann", Map.of(), null)).state().get("user:u"), "w");
    });
    checks.put("events and their state", () -> {
      Session s = create("bob", Map.of(), null);
      say(s, "e1", "Grüße", Map.of("k", "v", "temp:t", "x"), 1_700_000_000_000L);
      Session got = get(s);
      same(texts(got), List.of("Grüße"));
      same(got.state().get("k"), "v");
      same(got.state().containsKey("temp:t"), false);
    });
    checks.put("more events than a page of Google has", () -> {
      Session s = create("many", Map.of(), null);
      List<String> want = new ArrayList<>();
      for (int i = 0; i < 105; i++) {
        say(s, "e" + i, "n" + i, Map.of(), 1_700_000_000_000L + i * 1000L);
        want.add("n" + i);
      }
      same(texts(get(s)), want);
    });
    checks.put("sessions of a user", () -> {
      List<String> made = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        made.add(create("list", Map.of(), null).id());
      }
      List<String> got = new ArrayList<>(service.listSessions(APP, "list").blockingGet().sessionIds());
      made.sort(null);
      got.sort(null);
      same(got, made);
    });
    checks.put("a session is deleted", () -> {
      Session s = create("gone", Map.of(), null);
      service.deleteSession(APP, "gone", s.id()).blockingAwait();
      same(service.listSessions(APP, "gone").blockingGet().sessionIds().contains(s.id()), false);
    });
    int passed = 0;
    int failed = 0;
    for (Map.Entry<String, Body> check : checks.entrySet()) {
      try {
        check.getValue().run();
        passed++;
      } catch (Throwable e) {
        failed++;
        System.out.println("FAIL " + check.getKey());
        e.printStackTrace(System.out);
      }
    }
    System.out.println(passed + " passed, " + failed + " failed");
    System.exit(failed == 0 ? 0 : 1);
  }
}
