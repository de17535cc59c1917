package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
)

// versions returns a version as tag, with a leading v, and plain, without it. Git's tags and
// krew have the v; images and charts do not.
func versions(version string) (tag, plain string, err error) {
	plain = strings.TrimPrefix(version, "v")
	parsed, err := semver.StrictNewVersion(plain)
	if err != nil || parsed.Metadata() != "" {
		return "", "", fmt.Errorf("-version=%q must be a version such as v0.1.0 or v0.1.0-rc.1", version)
	}
	return "v" + plain, plain, nil
}

// commit is the commit of a release.
type commit struct {
	hash string
	// time is the time of the commit. All files of the release get it.
	time time.Time
	tags []string
	// changed are the files that differ from the commit.
	changed []string
}

// commitOf reads the commit of a working tree. SOURCE_DATE_EPOCH replaces its time, as
// specified by reproducible-builds.org.
func commitOf(ctx context.Context, folder string) (commit, error) {
	var failed error
	git := func(arguments ...string) []string {
		command := exec.CommandContext(ctx, "git", append([]string{"-C", folder}, arguments...)...)
		command.Stderr = os.Stderr
		output, err := command.Output()
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("git %s: %w", strings.Join(arguments, " "), err))
		}
		return slices.DeleteFunc(strings.Split(strings.TrimSpace(string(output)), "\n"), func(line string) bool { return line == "" })
	}
	head := commit{tags: git("tag", "--points-at", "HEAD"), changed: git("status", "--porcelain")}
	described := strings.Fields(strings.Join(git("log", "-1", "--format=%H %ct"), ""))
	if failed != nil || len(described) != 2 {
		return head, errors.Join(failed, errors.New("a release is made of a commit"))
	}
	epoch := described[1]
	if override := os.Getenv("SOURCE_DATE_EPOCH"); override != "" {
		epoch = override
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return head, fmt.Errorf("SOURCE_DATE_EPOCH=%q must be seconds since 1970", epoch)
	}
	head.hash, head.time = described[0], time.Unix(seconds, 0).UTC()
	return head, nil
}

// publishable returns an error unless the commit has the tag, and no file differs from it.
func (c commit) publishable(tag string) error {
	if len(c.changed) > 0 {
		return fmt.Errorf("%d files are not as in the commit: %s", len(c.changed), strings.TrimSpace(c.changed[0]))
	}
	if !slices.Contains(c.tags, tag) {
		return fmt.Errorf("commit %s has no tag %s", c.hash, tag)
	}
	return nil
}
