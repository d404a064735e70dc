import ArgumentParser
import EssentialsTools
import FoundationEssentials
import ServiceEssentials

/// Prints a command's failure as one line on standard error, and turns it into an exit code.
struct FailurePrinter {
    let format: OutputFormat
    /// Whether failures are not printed.
    var isSilent = false

    /// Runs a command.
    ///
    /// - Throws: the exit code, after the failure was printed.
    func run(_ command: () async throws(RequestFailure) -> Void) async throws {
        // Writing to a closed pipe must be reported as an error instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        do throws(RequestFailure) {
            try await command()
        } catch {
            // Like other programs, the tool ends without a message if nothing reads its output any more.
            if error.underlying is ClosedOutput { throw ExitCode(ClosedOutput.exitCode) }
            StandardStream.endLine()
            if !isSilent { StandardStream.error.printLine(line(for: error)) }
            throw Self.exitCode(for: error)
        }
    }

    /// The exit code for a failure.
    static func exitCode(for failure: RequestFailure) -> ExitCode {
        if let interrupt = failure.underlying as? Interruption.Signal { return ExitCode(128 + interrupt.number) }
        if failure.underlying is MissingTrait { return ExitCode(MissingTrait.exitCode) }
        let isRefusedValue = failure.reason == .invalidRequest || failure.reason == .invalidPolicy
        return isRefusedValue && failure.phase == .preparation ? .validationFailure : .failure
    }

    private func line(for failure: RequestFailure) -> String {
        switch format {
        case .text: "error: " + Self.text(of: failure)
        case .json: OneLine.json(Object(failure: failure))
        }
    }

    /// `REASON: text` in one line, even if a server's text contains line breaks.
    static func text(of failure: RequestFailure) -> String {
        // The message already says that a signal arrived or that a trait is missing.
        let cause =
            switch failure.underlying {
            case is Interruption.Signal: " Caused by Signal."
            case is MissingTrait: " Caused by MissingTrait."
            default: ""
            }
        let text = failure.description
        return OneLine.text(text.hasSuffix(cause) ? String(text.dropLast(cause.count)) : text)
    }

    /// A failure as a JSON object.
    struct Object: Encodable {
        private enum CodingKeys: CodingKey { case reason, phase, host, message, remedy, attempt }

        let failure: RequestFailure

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: CodingKeys.self)
            try object.encode(failure.reason.name, forKey: .reason)
            try object.encode(failure.phase.name, forKey: .phase)
            try object.encode(failure.host, forKey: .host)
            try object.encode(failure.message, forKey: .message)
            try object.encode(failure.remedy, forKey: .remedy)
            try object.encode(failure.attempt, forKey: .attempt)
        }
    }
}

/// Formats a text as one printable line.
enum OneLine {
    /// The text with each run of line breaks and other characters that control a terminal replaced by a space.
    static func text(_ text: String) -> String {
        text.unicodeScalars.split(whereSeparator: \.controlsTerminal).map(String.init).joined(separator: " ")
    }

    /// A value as a JSON object with sorted members, in which characters that control a terminal are escaped.
    static func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and numbers can always be encoded.
        guard let data = try? encoder.encode(value) else { return "{}" }
        // The encoder escapes only the controls of ASCII.
        return String(decoding: data, as: UTF8.self).unicodeScalars
            .map { $0.controlsTerminal ? VisibleText.escapedInJSON($0) : String(Character($0)) }.joined()
    }
}
