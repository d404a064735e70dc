import EssentialsRequests
import EssentialsStorage
import EssentialsTools

/// Blobs whose files are open, and blobs that are not to be used. It touches no file.
final class OpenBlobs: Sendable {
    /// The maximum number of blobs whose files are open.
    static let maximumCount = 64
    /// The maximum number of blobs that are known not to be decodable.
    private static let maximumDoubts = 1_024

    private struct State {
        /// Open blobs by the text with which they were asked for in the place of now.
        var entries = LeastRecentlyUsed<String, BlobEntry>(maximumCount: OpenBlobs.maximumCount, maximumBytes: 0)
        /// The number of the place in which the texts have their meaning.
        var place: UInt64 = 0
        /// The blobs that are being removed, and how often. They are not read until then.
        var barred: [RecordScope: Int] = [:]
        /// Blobs whose bytes could not be decoded.
        var doubted: Set<RecordName> = []

        func isBarred(_ name: RecordName) -> Bool {
            !barred.isEmpty && barred.keys.contains { $0.contains(name) }
        }

        mutating func close(where isClosed: (BlobEntry) -> Bool) {
            let closed = Set(entries.keys.filter { entries.value(of: $0).map(isClosed) ?? false })
            if !closed.isEmpty { entries.removeAll { closed.contains($0) } }
        }
    }

    private let state = Mutex(State())

    // MARK: Open blobs

    /// The open blob for a text, which counts as a use.
    ///
    /// - Parameter place: The number of the place in which the blob was asked for. In another one than that of now there is
    ///   none, because the text may mean another blob.
    func entry(for text: String, in place: UInt64) -> BlobEntry? {
        state.withLock { state in
            guard place == state.place, let entry = state.entries.use(text), !state.isBarred(entry.name) else {
                return nil
            }
            return entry
        }
    }

    /// Keeps a blob open for a text, if the place in which it was asked for is still that of now, and closes the blob that it
    /// has replaced.
    func insert(_ entry: BlobEntry, for text: String, in place: UInt64) {
        state.withLock { state in
            guard place == state.place else { return }
            state.close { $0.name == entry.name && $0.record.id != entry.record.id }
            _ = state.entries.insert(entry, for: text, bytes: 0)
        }
    }

    /// Forgets what texts mean, because they mean something else in the place with a number. A transfer that began in an
    /// earlier one and ends later gives them no meaning.
    func enter(place: UInt64) {
        state.withLock { state in
            state.place = place
            state.close { _ in true }
        }
    }

    /// Closes the blobs whose names fulfil a condition.
    func close(where isClosed: (RecordName) -> Bool) {
        state.withLock { state in state.close { isClosed($0.name) } }
    }

    // MARK: Bars

    /// Hides the blobs of a scope until ``unbar(_:)`` is called as often as this function.
    func bar(_ scope: RecordScope) { state.withLock { $0.barred[scope, default: 0] += 1 } }

    /// Ends one bar of a scope, after the attempt to remove its blobs.
    func unbar(_ scope: RecordScope) {
        state.withLock { state in
            let count = state.barred[scope, default: 0] - 1
            state.barred[scope] = count > 0 ? count : nil
        }
    }

    /// Whether a blob is not to be read.
    func isBarred(_ name: RecordName) -> Bool { state.withLock { $0.isBarred(name) } }

    // MARK: Doubts

    /// Notes that the bytes of a blob could not be decoded, so that the server is asked whether it has others.
    func doubt(_ name: RecordName) {
        state.withLock { state in
            state.close { $0.name == name }
            // A forgotten doubt only means that the blob is used again before the server is asked.
            if state.doubted.count >= Self.maximumDoubts { state.doubted = [] }
            state.doubted.insert(name)
        }
    }

    /// Whether there was a doubt, which is over with this question.
    func takeDoubt(of name: RecordName) -> Bool { state.withLock { $0.doubted.remove(name) != nil } }
}
