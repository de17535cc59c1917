// Package logging sets up the log of Interlock's binaries: one format for
// their own lines and those of the Kubernetes libraries.
package logging

import (
	"fmt"
	"io"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"open-cluster-management.io/interlock/pkg/cmdline"
)

// Options are what flags say of the log.
type Options struct {
	// Format is "text" or "json".
	Format string
	// Verbosity: 0 tells of changes, 1 and more of how they came about.
	Verbosity int
}

// AddFlags adds --log-format and -v.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Format, "log-format", "text", `Format of the log on standard error: "text" or "json".`)
	flags.IntVarP(&o.Verbosity, "v", "v", 0, "Verbosity of the log: 0 tells of changes, higher numbers of how they came about.")
}

// Validate returns an error that names the flag and the value that cannot be.
func (o *Options) Validate() error {
	if o.Verbosity < 0 || o.Verbosity > 10 {
		return fmt.Errorf("--v=%d: must be from 0 to 10", o.Verbosity)
	}
	if o.Format != "text" && o.Format != "json" {
		return fmt.Errorf("--log-format=%q: must be text or json", o.Format)
	}
	return nil
}

// Start returns the logger that valid options ask for, writing to out, and
// makes it the one of controller-runtime and client-go too.
func (o *Options) Start(out io.Writer) logr.Logger {
	encoder := zap.ConsoleEncoder
	if o.Format == "json" {
		encoder = zap.JSONEncoder
	}
	logger := zap.New(encoder(readableTime), zap.WriteTo(out),
		zap.Level(zapcore.Level(-o.Verbosity)), zap.StacktraceLevel(zapcore.DPanicLevel))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	return logger
}

// Ended has an error that ends the process told in the format of the log: on
// the command line for people to read, or as one more line of JSON.
func (o *Options) Ended(logger logr.Logger, err error) error {
	if err == nil || o.Format != "json" {
		return err
	}
	logger.Error(err, "Cannot go on")
	return cmdline.LoggedError(err)
}

func readableTime(config *zapcore.EncoderConfig) {
	config.EncodeTime = zapcore.RFC3339NanoTimeEncoder
}
