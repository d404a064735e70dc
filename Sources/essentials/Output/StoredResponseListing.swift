import EssentialsRequests
import FoundationEssentials
import ServiceEssentials

/// The output of `essentials cache`.
struct StoredResponseListing {
    let items: [StoredResponseFiles.Item]

    /// A number of responses in words.
    static func number(_ count: Int) -> String { count == 1 ? "1 response" : "\(count) responses" }

    private var stored: [StoredResponseFiles.Facts] { items.compactMap(\.facts) }
    /// The names of the damaged files.
    var damaged: [String] { items.filter { $0.facts == nil }.map(\.file) }

    // MARK: Text

    /// A line with titles and one for each response, or a sentence if there is none.
    var table: [String] {
        guard !stored.isEmpty else { return ["There are no responses."] }
        let titles = ["AGE", "LEFT", "STATUS", "BYTES", "PRIVATE", "URL"]
        return TextTable.lines([titles] + stored.map(row))
    }

    private func row(_ facts: StoredResponseFiles.Facts) -> [String] {
        [
            facts.age.map(Self.text) ?? "unknown", facts.timeLeft > .zero ? Self.text(facts.timeLeft) : "stale",
            "\(facts.status)", "\(facts.size)", facts.isPersonal ? "yes" : "no",
            ([facts.url] + facts.selection.map { "(\($0))" }).joined(separator: " "),
        ]
    }

    /// A duration in its largest unit.
    static func text(_ duration: Duration) -> String {
        let seconds = max(duration.components.seconds, 0)
        switch seconds {
        case ..<120: return "\(seconds) s"
        case ..<7_200: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3_600) h"
        default: return "\(seconds / 86_400) d"
        }
    }

    // MARK: JSON

    private struct Object: Encodable {
        let url: String
        let status: Int
        let bytes: Int64
        /// In seconds.
        let age: Int64?
        let timeLeft: Int64
        let isPrivate: Bool
        let vary: [String]
    }

    /// A JSON object for each response.
    var objects: [String] {
        stored.map { facts in
            OneLine.json(
                Object(
                    url: facts.url, status: facts.status, bytes: facts.size, age: facts.age?.components.seconds,
                    timeLeft: facts.timeLeft.components.seconds, isPrivate: facts.isPersonal, vary: facts.selection))
        }
    }
}
