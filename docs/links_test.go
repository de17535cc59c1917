package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the repository's top folder.
const root = ".."

var (
	codeBlock  = regexp.MustCompile("(?s)```.*?```")
	codeSpan   = regexp.MustCompile("`[^`\n]*`")
	link       = regexp.MustCompile(`\[[^\]\n]*\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInSlug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	repository = regexp.MustCompile("`((?:cmd|pkg|test|hack|deploy|manifests|docs|examples)/[^` ]*)`")
)

// pages reads all Markdown files of the repository, by their paths from its top.
func pages(t *testing.T) map[string]string {
	t.Helper()
	read := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "bin" || entry.Name() == ".git") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		read[filepath.ToSlash(name)] = string(content)
		return err
	})
	if err != nil || len(read) < 10 {
		t.Fatalf("found %d pages: %v", len(read), err)
	}
	return read
}

// anchors returns the fragments by which GitHub links the headings of a page.
func anchors(page string) map[string]bool {
	slugs := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(page, ""), -1) {
		title := link.ReplaceAllStringFunc(match[1], func(text string) string { return text[1:strings.Index(text, "]")] })
		slugs[strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(title), ""), " ", "-")] = true
	}
	return slugs
}

func TestAnchors(t *testing.T) {
	slugs := anchors("# spec.dependencies on a hub\n```\n# no heading\n```\n### `Degraded`, by [addon-manager](x.md)\n")
	if len(slugs) != 2 || !slugs["specdependencies-on-a-hub"] || !slugs["degraded-by-addon-manager"] {
		t.Errorf("anchors are %v", slugs)
	}
}

func TestLinksLeadToFilesAndHeadings(t *testing.T) {
	markdown := pages(t)
	for name, content := range markdown {
		for _, match := range link.FindAllStringSubmatch(codeBlock.ReplaceAllString(content, ""), -1) {
			target, fragment, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			path := name
			if target != "" {
				path = filepath.ToSlash(filepath.Join(filepath.Dir(name), target))
			}
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s links %s: %v", name, match[1], err)
			} else if fragment != "" && !anchors(markdown[path])[fragment] {
				t.Errorf("%s links %s: %s has no such heading", name, match[1], path)
			}
		}
	}
}

func TestPathsOfTheRepositoryExist(t *testing.T) {
	for name, content := range pages(t) {
		if name == "CHANGELOG.md" { // It also names files that were removed.
			continue
		}
		for _, match := range repository.FindAllStringSubmatch(codeBlock.ReplaceAllString(content, ""), -1) {
			if strings.ContainsAny(match[1], "…<") {
				continue
			}
			fromTop, err := filepath.Glob(filepath.Join(root, match[1]))
			beside, _ := filepath.Glob(filepath.Join(root, filepath.Dir(name), match[1]))
			if err != nil || len(fromTop)+len(beside) == 0 {
				t.Errorf("%s names `%s`, which is not in the repository", name, match[1])
			}
		}
	}
}
