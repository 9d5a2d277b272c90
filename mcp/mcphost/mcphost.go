// Package mcphost writes memoryd into the configuration of hosts of MCP servers, and takes
// it out again. All else in a file stays byte for byte: comments, order, white space and
// the servers of others.
package mcphost

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// Host is a program that starts MCP servers.
type Host struct {
	Name  string // as users type it
	Title string // as people call it
	// servers is the field of the configuration that holds the servers by their names.
	servers string
	// typed hosts want "type": "stdio" in a server.
	typed bool
	path  func(m Machine) string
}

// Machine is what the place of a configuration depends on.
type Machine struct {
	OS     string // as runtime.GOOS names it
	Home   string
	Getenv func(string) string
}

// config is where programs keep their configuration: Application Support on macOS, AppData
// on Windows, and by the XDG base directories elsewhere.
func (m Machine) config() string {
	switch m.OS {
	case "darwin":
		return filepath.Join(m.Home, "Library", "Application Support")
	case "windows":
		if dir := m.Getenv("APPDATA"); dir != "" {
			return dir
		}
		return filepath.Join(m.Home, "AppData", "Roaming")
	}
	return m.xdg()
}

// xdg is the directory of configurations on Linux.
func (m Machine) xdg() string {
	if dir := m.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(m.Home, ".config")
}

// hosts are all hosts, as their documentation describes their configuration of a user.
var hosts = []*Host{
	{Name: "claude-desktop", Title: "Claude Desktop", servers: "mcpServers",
		path: func(m Machine) string { return filepath.Join(m.config(), "Claude", "claude_desktop_config.json") }},
	{Name: "claude-code", Title: "Claude Code", servers: "mcpServers", typed: true,
		path: func(m Machine) string {
			if dir := m.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
				return filepath.Join(dir, ".claude.json")
			}
			return filepath.Join(m.Home, ".claude.json")
		}},
	{Name: "cursor", Title: "Cursor", servers: "mcpServers",
		path: func(m Machine) string { return filepath.Join(m.Home, ".cursor", "mcp.json") }},
	{Name: "vscode", Title: "VS Code", servers: "servers", typed: true,
		path: func(m Machine) string { return filepath.Join(m.config(), "Code", "User", "mcp.json") }},
	{Name: "zed", Title: "Zed", servers: "context_servers",
		path: func(m Machine) string {
			if m.OS == "windows" {
				return filepath.Join(m.config(), "Zed", "settings.json")
			}
			return filepath.Join(m.xdg(), "zed", "settings.json") // on macOS too
		}},
	{Name: "gemini-cli", Title: "Gemini CLI", servers: "mcpServers",
		path: func(m Machine) string { return filepath.Join(m.Home, ".gemini", "settings.json") }},
}

// Names are the names of all hosts.
func Names() []string {
	out := make([]string, len(hosts))
	for i, h := range hosts {
		out[i] = h.Name
	}
	return out
}

// Find returns the host of a name. The error is ErrInvalid and has the names.
func Find(name string) (*Host, error) {
	for _, h := range hosts {
		if h.Name == name {
			return h, nil
		}
	}
	return nil, fmt.Errorf("%w: there is no host %.40q: want one of %s", memory.ErrInvalid, name,
		strings.Join(Names(), ", "))
}

// Path returns where the host keeps the configuration of a user.
func (h *Host) Path(m Machine) string { return h.path(m) }

// Server is an MCP server that a host starts.
type Server struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}
