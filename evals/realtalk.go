package evals

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memoryd/memoryd/sessionstore"
)

// realTalkCategories are the names of REALTALK's categories of questions, by their
// numbers, which begin with 1.
var realTalkCategories = []string{"multi-hop", "temporal", "commonsense"}

// RealTalk reads files of REALTALK (Lee et al., "REALTALK: A 21-Day Real-World Dataset for
// Long-Term Conversation", 2025), such as Chat_1_Emi_Elise.json: one user for each file, a
// session for each of its sessions, and an event for each message, whose id is REALTALK's.
// The caption of a picture is part of its message's text. As of [LoCoMo], ids of evidence
// that name no message are dropped, and questions without evidence are left out.
func RealTalk(files ...string) (*Dataset, error) {
	d := &Dataset{Name: "realtalk", Categories: realTalkCategories, Pooled: "all"}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		c, err := readRealTalk(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		c.Name = strings.TrimSuffix(filepath.Base(file), ".json")
		d.Conversations = append(d.Conversations, c)
	}
	return d, d.validate()
}

// realTalkMessage is one message of a session.
type realTalkMessage struct {
	ID      string `json:"dia_id"`
	Speaker string `json:"speaker"`
	At      string `json:"date_time"`
	Text    string `json:"clean_text"`
	Caption string `json:"blip_caption"`
}

func readRealTalk(raw []byte) (c Conversation, err error) {
	if first := bytes.TrimLeft(raw, " \t\r\n"); len(first) == 0 || first[0] != '{' {
		return c, errors.New("is not REALTALK, which is a JSON object for each chat")
	}
	file := locomoSample{}
	if err := json.Unmarshal(raw, &file.Conversation); err != nil {
		return c, located(raw, err)
	}
	for _, n := range file.numbers() {
		var messages []realTalkMessage
		if err := json.Unmarshal(file.Conversation[fmt.Sprintf("session_%d", n)], &messages); err != nil {
			return c, fmt.Errorf("session_%d: %w", n, err)
		}
		s := Session{ID: fmt.Sprintf("session-%d", n)}
		for i, m := range messages {
			e, err := m.event()
			if err != nil {
				return c, fmt.Errorf("session_%d: message %d (dia_id %q): %w", n, i+1, m.ID, err)
			}
			s.Events = append(s.Events, e)
		}
		if len(s.Events) > 0 {
			c.Sessions = append(c.Sessions, s)
		}
	}
	if len(c.Sessions) == 0 {
		return c, errors.New("it has no session_1: is this REALTALK?")
	}
	qa, ok := file.Conversation["qa"]
	if !ok {
		return c, errors.New("it has no qa")
	}
	if err := json.Unmarshal(qa, &file.Questions); err != nil {
		return c, fmt.Errorf("qa: %w", err)
	}
	return c, c.ask(&file, realTalkCategories)
}

// event is a message as an event. REALTALK tells no zone: the times are taken as UTC.
func (m *realTalkMessage) event() (sessionstore.Event, error) {
	at, err := time.Parse("02.01.2006, 15:04:05", m.At)
	if err != nil {
		return sessionstore.Event{}, fmt.Errorf("date_time %q is not as 29.12.2023, 22:42:04", m.At)
	}
	if m.ID == "" || m.Speaker == "" {
		return sessionstore.Event{}, errors.New("it has no dia_id or no speaker")
	}
	return spoken(m.ID, m.Speaker, at.Format(time.RFC3339), "user", captioned(m.Text, m.Caption))
}
