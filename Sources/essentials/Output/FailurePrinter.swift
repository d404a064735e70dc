import ArgumentParser
import FoundationEssentials
import Glibc
import ServiceEssentials

/// Turns the failure of a command into one line on standard error and an exit code.
struct FailurePrinter {
    /// The values of `--error-format`.
    enum Format: String, Sendable, CaseIterable {
        case text
        case json
    }

    let format: Format

    /// Runs a command.
    ///
    /// - Throws: the exit code, once the failure is printed.
    func run(_ command: () async throws(RequestFailure) -> Void) async throws {
        // Writing to a closed pipe is an error to report, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        do throws(RequestFailure) {
            try await command()
        } catch {
            StandardStream.error.printLine(line(for: error))
            throw Self.exitCode(for: error)
        }
    }

    /// The exit code that a failure ends the process with.
    static func exitCode(for failure: RequestFailure) -> ExitCode {
        if let interrupt = failure.underlying as? Interruption.Signal { return ExitCode(128 + interrupt.number) }
        let isRefusedValue = failure.reason == .invalidRequest || failure.reason == .invalidPolicy
        return isRefusedValue && failure.phase == .preparation ? .validationFailure : .failure
    }

    private func line(for failure: RequestFailure) -> String {
        switch format {
        case .text: "error: " + Self.text(of: failure)
        case .json: Self.json(of: failure)
        }
    }

    /// `REASON: text`, on one line whatever a server put into it.
    static func text(of failure: RequestFailure) -> String { OneLine.text(failure.description) }

    private struct Object: Encodable {
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

    private static func json(of failure: RequestFailure) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and one number always have a JSON form.
        guard let data = try? encoder.encode(Object(failure: failure)) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}

/// Makes one printable line of a text.
enum OneLine {
    /// The text with a space for each run of line breaks and other control characters.
    static func text(_ text: String) -> String {
        text.unicodeScalars
            .split { $0.properties.generalCategory == .control || $0 == "\u{2028}" || $0 == "\u{2029}" }
            .map(String.init).joined(separator: " ")
    }
}
