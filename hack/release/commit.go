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

// versions are a version with and without the v. Git's tags and krew have it; images
// and charts do not.
func versions(given string) (tag, plain string, err error) {
	plain = strings.TrimPrefix(given, "v")
	parsed, err := semver.StrictNewVersion(plain)
	if err != nil || parsed.Metadata() != "" {
		return "", "", fmt.Errorf("-version=%q must be a version such as v0.1.0 or v0.1.0-rc.1", given)
	}
	return "v" + plain, plain, nil
}

// commit is what a release is made of.
type commit struct {
	hash string
	// time is that of the commit. It becomes the time of all that is made.
	time time.Time
	tags []string
	// changed has the files that differ from the commit.
	changed []string
}

// commitOf reads the commit of a working tree. As the specification of reproducible
// builds has it, SOURCE_DATE_EPOCH replaces the time.
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
	found := commit{tags: git("tag", "--points-at", "HEAD"), changed: git("status", "--porcelain")}
	described := strings.Fields(strings.Join(git("log", "-1", "--format=%H %ct"), ""))
	if failed != nil || len(described) != 2 {
		return found, errors.Join(failed, errors.New("a release is made of a commit"))
	}
	epoch := described[1]
	if set := os.Getenv("SOURCE_DATE_EPOCH"); set != "" {
		epoch = set
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return found, fmt.Errorf("SOURCE_DATE_EPOCH=%q must be seconds since 1970", epoch)
	}
	found.hash, found.time = described[0], time.Unix(seconds, 0).UTC()
	return found, nil
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
