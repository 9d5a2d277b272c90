package sqlitestore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// flip changes one byte of a value of a memory, as a broken disk does.
func flip(t *testing.T, s *Store, id, column string) {
	t.Helper()
	if err := s.db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		var value []byte
		if err := tx.QueryRow(`SELECT `+column+` FROM memories WHERE id = ?`, id).Scan(&value); err != nil {
			return err
		}
		value[len(value)/2] ^= 4
		_, err := tx.Exec(`UPDATE memories SET `+column+` = ? WHERE id = ?`, value, id)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// listed are the ids of a whole list, and how many memories it could not read.
func listed(t *testing.T, s *Store, scope memory.Scope, size int) (ids []string, unreadable int) {
	t.Helper()
	list := memory.List{PageSize: size}
	for {
		page, err := s.List(t.Context(), scope, list)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Memories {
			ids = append(ids, m.ID)
		}
		unreadable += page.Unreadable
		if list.PageToken = page.NextPageToken; list.PageToken == "" {
			return ids, unreadable
		}
	}
}

// A memory of which one byte has changed costs only itself. It is not answered, it
// is counted, and it can be deleted or written again.
func TestUnreadableMemory(t *testing.T) {
	for _, column := range []string{"doc", "terms", "vector"} {
		t.Run(column, func(t *testing.T) {
			scope := memory.Scope{App: "a", User: "u"}
			s := store(t, 0, time.Now)
			writes := turns(scope, 12)
			put(t, s, scope, writes)
			broken := writes[5].Memory.ID
			flip(t, s, broken, column)
			if got := search1(t, s, scope); got.Stats.Docs != 11 {
				t.Errorf("%d memories are searched, want 11", got.Stats.Docs)
			}
			if got := fmt.Sprint(s.db.UnreadableRows()); got !=
				fmt.Sprintf(`[{memories app "a", user "u", memory %q}]`, broken) {
				t.Errorf("unreadable: %s", got)
			}
			if column != "doc" {
				return // what Get and List need can be read
			}
			ids, unreadable := listed(t, s, scope, 5)
			if len(ids) != 11 || unreadable != 1 {
				t.Errorf("listed %d, and %d unreadable", len(ids), unreadable)
			}
			found, err := s.Get(t.Context(), scope, []string{writes[4].Memory.ID, broken, writes[6].Memory.ID})
			if !errors.As(err, new(*memory.Damage)) || len(found) != 2 {
				t.Errorf("got %d, %v", len(found), err)
			}
			// The same write again has what is lost.
			out, err := s.Put(t.Context(), scope, writes[5:6])
			if err != nil || out[0].Err != nil || out[0].Memory.Fact != writes[5].Memory.Fact {
				t.Errorf("written again: %+v, %v", out, err)
			}
			if found, err := s.Get(t.Context(), scope, []string{broken}); err != nil || len(found) != 1 {
				t.Errorf("written again, and read: %v, %v", found, err)
			}
			flip(t, s, broken, column)
			if out, err := s.Delete(t.Context(), scope, []memory.Removal{{ID: broken}}); err != nil || !out[0].Changed {
				t.Errorf("delete: %+v, %v", out, err)
			}
			if found, err := s.Get(t.Context(), scope, []string{broken}); err != nil || len(found) != 0 {
				t.Errorf("deleted, and read: %v, %v", found, err)
			}
		})
	}
}

// A page that SQLite cannot read costs the memories in it. The others of the scope are
// still searched and listed, in order and in pages, and other scopes are whole.
func TestPageLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memoryd.db")
	model := Model{Embedder: "e", Dimension: 64, Analyzer: "w"}
	open := func() *Store {
		db, err := sqlitedb.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		s, err := New(db, model, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	one, two := memory.Scope{App: "a", User: "one"}, memory.Scope{App: "a", User: "two"}
	s := open()
	put(t, s, one, turns(one, 200))
	put(t, s, two, turns(two, 200))
	all, _ := listed(t, s, one, 30)
	wantTwo, _ := listed(t, s, two, 30)
	var page int64
	// A leaf of the table that has the 50th memory of the first scope.
	if err := s.db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		return tx.QueryRow(`SELECT pageno FROM dbstat WHERE name = 'memories' AND pagetype = 'leaf' LIMIT 1 OFFSET 10`).Scan(&page)
	}); err != nil {
		t.Fatal(err)
	}
	s.db.Close()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 4096), (page-1)*4096); err != nil {
		t.Fatal(err)
	}
	f.Close()

	s = open()
	if s.db.Damaged() == nil {
		t.Fatal("the damage is not noticed")
	}
	gotTwo, _ := listed(t, s, two, 30)
	if diff := cmp.Diff(wantTwo, gotTwo); diff != "" {
		t.Errorf("the other scope (-want +got):\n%s", diff)
	}
	if got := search1(t, s, two); got.Stats.Docs != 200 {
		t.Errorf("%d memories of the other scope are searched", got.Stats.Docs)
	}
	got, _ := listed(t, s, one, 30)
	lost := map[string]bool{}
	for _, id := range all {
		lost[id] = true
	}
	for _, id := range got {
		delete(lost, id)
	}
	if len(lost) == 0 || len(lost) > 20 {
		t.Fatalf("%d memories are lost", len(lost))
	}
	var want []string
	for _, id := range all {
		if !lost[id] {
			want = append(want, id)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the list of what is left (-want +got):\n%s", diff)
	}
	if got := search1(t, s, one); got.Stats.Docs != 200-len(lost) {
		t.Errorf("%d memories are searched, %d are lost", got.Stats.Docs, len(lost))
	}
	if got := s.db.Stats().Unreadable; got != len(lost) {
		t.Errorf("%d rows are counted, %d are lost", got, len(lost))
	}
	if _, err := s.Put(t.Context(), two, turns(two, 201)[200:]); !errors.As(err, new(*memory.Damage)) {
		t.Errorf("a write: %v", err)
	}
}

// A list of one person, and one of one user by its expression, looks at no memory of others: those
// that cannot be read would count on the page.
func TestListsLookAtNoOthers(t *testing.T) {
	s := store(t, 0, time.Now)
	ann := memory.Scope{App: "a", User: "~team=x&user_id=ann"}
	put(t, s, ann, turns(ann, 3))
	for i := range 5 {
		scope := memory.Scope{App: "a", User: fmt.Sprint("~team=x&user_id=u", i)}
		writes := turns(scope, 1)
		writes[0].Memory.ID = fmt.Sprint("other", i)
		put(t, s, scope, writes)
		flip(t, s, writes[0].Memory.ID, "doc")
	}
	for _, f := range []memory.Filter{{Person: memory.Person{User: "ann", Part: "user_id=ann"}},
		{Where: memory.Cmp{Field: memory.FieldUser, Op: memory.OpEqual, Value: memory.Text("~team=x&user_id=ann")}}} {
		page, err := s.ListApp(t.Context(), "a", memory.List{Filter: f})
		if err != nil || page.Unreadable > 0 || len(page.Memories) != 3 {
			t.Errorf("%+v: %d memories, %d unreadable, error %v", f, len(page.Memories), page.Unreadable, err)
		}
	}
}
