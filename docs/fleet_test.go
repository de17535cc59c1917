package docs

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

var update = flag.Bool("update", false, "write what kubectl addon prints to the pages that show it")

// offline matches a block with one command of the plugin that needs no hub, and a following
// block with its output.
var offline = regexp.MustCompile("(?s)```sh\nkubectl addon ([^\n]*docs/examples/[^\n]*)\n```\n(?:\n```(?:text|mermaid)\n(.*?)```\n)?")

// Pages show the current output of the plugin on files in docs/examples. `go test ./docs
// -update` writes it.
func TestPagesShowWhatThePluginPrints(t *testing.T) {
	for page, least := range map[string]int{"docs/concepts.md": 6, "docs/author-guide.md": 2, "docs/resolve.md": 3} {
		content := read(t, page)
		blocks := offline.FindAllStringSubmatchIndex(content, -1)
		if len(blocks) < least {
			t.Errorf("%s has %d commands on files, expected at least %d", page, len(blocks), least)
		}
		var written strings.Builder
		end := 0
		for _, block := range blocks {
			command := content[block[2]:block[3]]
			var printed string
			t.Run(command, func(t *testing.T) { printed = plugin(t, command) })
			if block[4] < 0 {
				continue
			}
			if shown := content[block[4]:block[5]]; shown != printed && !*update {
				t.Errorf("%s, kubectl addon %s: the page shows\n%s\nthe plugin prints\n%s\n`go test ./docs -update` writes it",
					page, command, shown, printed)
			}
			written.WriteString(content[end:block[4]] + printed)
			end = block[5]
		}
		if *update {
			written.WriteString(content[end:])
			if err := os.WriteFile(filepath.Join(root, page), []byte(written.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// plugin returns the output of a command in the repository's top folder. Verbs that check
// files may fail. Their error is not part of the output that a page shows.
func plugin(t *testing.T, command string) string {
	t.Helper()
	t.Chdir(root)
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	verb := cli.NewCommand(streams)
	verb.SetArgs(strings.Fields(command))
	var failure bytes.Buffer
	if code := cmdline.Run(t.Context(), verb, &failure); code != cmdline.ExitOK && code != cmdline.ExitError {
		t.Errorf("kubectl addon %s: exit code %d: %s", command, code, failure.String())
	}
	return out.String()
}

// Commands of the plugin in code, anywhere on a page, have verbs and flags that exist.
func TestPagesNameVerbsAndFlagsThatExist(t *testing.T) {
	mentioned := regexp.MustCompile("kubectl addon ([a-z]+)([^`\n|]*)")
	root, count := cli.NewCommand(genericiooptions.NewTestIOStreamsDiscard()), 0
	for page, content := range pages(t) {
		spans := codeSpan.FindAllString(codeBlock.ReplaceAllString(content, ""), -1)
		for _, code := range append(codeBlock.FindAllString(content, -1), spans...) {
			for _, command := range mentioned.FindAllStringSubmatch(code, -1) {
				verb, _, err := root.Find(append([]string{command[1]}, strings.Fields(command[2])...))
				if err != nil || verb == root {
					t.Errorf("%s: %q: no such verb", page, command[0])
					continue
				}
				count++
				for _, flag := range regexp.MustCompile(` --([a-z-]+)`).FindAllStringSubmatch(command[2], -1) {
					if verb.Flag(flag[1]) == nil && flag[1] != "help" {
						t.Errorf("%s: %q: no flag --%s", page, command[0], flag[1])
					}
				}
			}
		}
	}
	if count < 50 {
		t.Errorf("found only %d commands", count)
	}
}

// The integration tests apply the file.
func TestAuthorGuideShowsTheFile(t *testing.T) {
	_, content, _ := strings.Cut(read(t, "docs/examples/hello.yaml"), "\n") // after a comment
	if !strings.Contains(read(t, "docs/author-guide.md"), "```yaml\n"+content+"```") {
		t.Error("docs/author-guide.md shows another add-on than docs/examples/hello.yaml")
	}
}

func TestResolvePageShowsTheWishes(t *testing.T) {
	if !strings.Contains(read(t, "docs/resolve.md"), "```yaml\n"+read(t, "docs/examples/resolve/addons.yaml")+"```") {
		t.Error("docs/resolve.md shows other wishes than docs/examples/resolve/addons.yaml")
	}
}

// Commands on a page may fail a check. The lock of the example must not.
func TestTheLockOfTheExampleIsCurrent(t *testing.T) {
	if different := plugin(t, "verify "+resolvable+" -o jsonpath={.items}"); different != "[]" {
		t.Errorf("docs/examples/resolve/addons.lock: %s", different)
	}
}
