import EssentialsFoundation
import EssentialsTestKit
import Foundation
import ServiceEssentials
import Testing

/// The printed form of every kind of failure, which `Fixtures/failures.txt` has for its readers.
///
/// With the variable `ESSENTIALS_WRITES_FAILURES` in the environment, the test writes the file.
@Suite("The printed form of failures", .serialized)
struct PrintedFailuresTests {
    private static func normalized(_ text: String, _ failure: PrintedFailure) -> String {
        var text = text
        for (value, name) in failure.replacements { text = text.replacing(value, with: name) }
        // The fixtures can be generated again.
        return text.replacing(#/sha256\/[A-Za-z0-9+\/]{43}=/#, with: "sha256/PIN")
    }

    private static func lines(_ failure: PrintedFailure) -> String {
        let phase = (failure.error as? RequestFailure).map { " [\($0.phase)]" } ?? ""
        return "# \(failure.title)\(phase)\n\(normalized("\(failure.error)", failure))\n"
    }

    /// Everything that a program could print of an error.
    private static func everything(_ error: any Error) -> String {
        var text = "\(error) " + String(reflecting: error) + error.localizedDescription
        dump(error, to: &text)
        if let failure = error as? RequestFailure {
            text += failure.message + (failure.remedy ?? "") + "\(failure.underlying.map { "\($0)" } ?? "")"
            let foundation = NSError(failure)
            text += foundation.description + foundation.debugDescription + "\(foundation.userInfo)"
            text += foundation.localizedDescription + (foundation.localizedRecoverySuggestion ?? "")
        }
        return text
    }

    @Test("Every failure is printed as the file shows it, and shows no secret", .timeLimit(.minutes(5)))
    func printed() async throws {
        let requests = try await FailureMaker.all()
        let locators = try await LocatorFailureMaker.all()
        let defaults = RequestFailure.Reason.all.map { "\($0): \($0.remedy ?? "–")\n" }
        let text = """
            Every kind of failure as it is printed. A test makes them and compares them with this file.

            ## Requests

            \(requests.map(Self.lines).joined(separator: "\n"))
            ## Locators

            \(locators.map(Self.lines).joined(separator: "\n"))
            ## Remedies of failures without a more specific one

            \(defaults.joined())
            """
        for failure in requests + locators {
            #expect(!Secret.isIn(Self.everything(failure.error)), "\(failure.title): \(failure.error)")
        }
        let reasons = Set(requests.compactMap { ($0.error as? RequestFailure)?.reason })
        #expect(Set(RequestFailure.Reason.all).subtracting(reasons).isEmpty, "each reason has an example")
        let locatorReasons = Set(locators.compactMap { ($0.error as? ServiceLocatorError)?.reason })
        #expect(Set(ServiceLocatorError.Reason.all).subtracting(locatorReasons).isEmpty, "each reason has an example")
        let path = FailureMaker.fixture("failures.txt")
        if ProcessInfo.processInfo.environment["ESSENTIALS_WRITES_FAILURES"] != nil {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        let expected = try String(contentsOfFile: path, encoding: .utf8)
        let (shown, known) = (text.split(separator: "\n"), expected.split(separator: "\n"))
        for (line, other) in zip(shown, known) { #expect(line == other) }
        #expect(shown.count == known.count)
    }

    @Test("A failure's description is its reason, message and remedy, and the lines of the file are whole sentences")
    func form() async throws {
        let path = FailureMaker.fixture("failures.txt")
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#")
        {
            #expect([".", "–", "?", "”"].contains(line.last), "\(line)")
            #expect(
                !line.replacing("“..”", with: "").contains("..") && !line.contains("  ") && !line.contains("Optional("),
                "\(line)")
        }
    }
}
