import ArgumentParser

/// How a failure is printed.
struct ErrorOptions: ParsableArguments {
    @Option(
        name: .customLong("error-format"),
        help: ArgumentHelp(
            "One line of text, or one JSON object with reason, phase, host, message, remedy and attempt.",
            valueName: "format"))
    var format = FailurePrinter.Format.text
}

extension FailurePrinter.Format: ExpressibleByArgument {}
