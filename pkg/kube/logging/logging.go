// Package logging sets up the log of Interlock's binaries. Their own lines and
// the lines of the Kubernetes libraries have the same format.
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

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/text"
)

// Options are the settings of the log.
type Options struct {
	// Format is "text" or "json".
	Format string
	// Verbosity is the level of the log. Level 0 logs changes, higher levels also their causes.
	Verbosity int
}

// AddFlags adds --log-format and -v.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Format, "log-format", "text", `Format of the log on standard error: "text" or "json".`)
	flags.IntVarP(&o.Verbosity, "v", "v", 0, "Verbosity of the log: 0 logs changes, higher numbers also log what led to them.")
}

// Validate returns an error that names an invalid flag and its value.
func (o *Options) Validate() error {
	if o.Verbosity < 0 || o.Verbosity > 10 {
		return fmt.Errorf("--v=%d: must be from 0 to 10", o.Verbosity)
	}
	if o.Format != "text" && o.Format != "json" {
		return fmt.Errorf("--log-format=%q: must be text or json", o.Format)
	}
	return nil
}

// Start returns a logger that writes to out, and sets it for controller-runtime
// and client-go too. The options have to be valid.
func (o *Options) Start(out io.Writer) logr.Logger {
	encoder := zap.ConsoleEncoder
	if o.Format == "json" {
		encoder = zap.JSONEncoder
	}
	logger := zap.New(encoder(readableTime), zap.WriteTo(text.NewWriter(out)),
		zap.Level(zapcore.Level(-o.Verbosity)), //nolint:gosec // Validate limits it to 10
		zap.StacktraceLevel(zapcore.DPanicLevel))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	return logger
}

// Ended logs the error that ends the process if the log is in JSON, and marks it as
// logged. Otherwise the command line prints the error.
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
