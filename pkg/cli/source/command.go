package source

import (
	"regexp"
	"strings"
)

// FileNote is the note before commands that act on a hub if the plugin has read a file.
const FileNote = "Run the commands on the hub that the file was taken from: add its --context."

// Command returns a command for people to paste, with the flags that select this hub or
// file. Without them, it would act on the hub of the current context. The command is a
// line of kubectl, of a verb of the plugin, or of clusteradm. Other lines do not change.
func (s *Source) Command(line string) string {
	switch {
	case !isCommand(line):
		return line
	case s.IsFile() && readsFiles(line):
		return line + " --from " + Quoted(s.file)
	case s.IsFile():
		return line
	}
	for _, flag := range []struct{ name, value string }{{"context", *s.Config.Context}, {"kubeconfig", *s.Config.KubeConfig}} {
		if flag.value != "" {
			line += " --" + flag.name + " " + Quoted(flag.value)
		}
	}
	return line
}

// Note returns a note about flags that Command could not repeat. It is empty without such
// flags. clusteradm has no other flags for a hub, and a token is not repeated.
func (s *Source) Note(line string) string {
	switch {
	case !isCommand(line) || s.IsFile() && readsFiles(line):
		return ""
	case s.IsFile():
		return FileNote
	}
	var flags []string
	for _, flag := range []struct {
		name  string
		value *string
	}{
		{"server", s.Config.APIServer},
		{"cluster", s.Config.ClusterName},
		{"user", s.Config.AuthInfoName},
		{"token", s.Config.BearerToken},
		{"client-certificate", s.Config.CertFile},
		{"as", s.Config.Impersonate},
	} {
		if flag.value != nil && *flag.value != "" {
			flags = append(flags, "--"+flag.name)
		}
	}
	if len(flags) == 0 {
		return ""
	}
	context := "the current context"
	if *s.Config.Context != "" {
		context = "that context"
	}
	return "The commands act on the hub and as the user of " + context + ", without " + strings.Join(flags, ", ") + "."
}

func isCommand(line string) bool {
	return strings.HasPrefix(line, "kubectl ") || strings.HasPrefix(line, "clusteradm ")
}

// readsFiles reports whether a command is a verb of the plugin that reads files.
func readsFiles(line string) bool {
	return strings.HasPrefix(line, "kubectl addon ") && !strings.HasPrefix(line, "kubectl addon doctor")
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// Quoted returns an argument with quotes for a POSIX shell, if it needs them.
func Quoted(argument string) string {
	if plain.MatchString(argument) {
		return argument
	}
	return "'" + strings.ReplaceAll(argument, "'", `'\''`) + "'"
}
