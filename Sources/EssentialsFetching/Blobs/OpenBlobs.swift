import EssentialsRequests
import EssentialsStorage
import EssentialsTools

/// Blobs whose files are open, and blobs that must not be used. It touches no file.
final class OpenBlobs: Sendable {
    /// The maximum number of blobs whose files are open.
    static let maximumCount = 64
    /// The maximum number of blobs that are known not to be decodable.
    private static let maximumDoubts = 1_024

    private struct State {
        /// The open blobs, by the text with which they were requested in the current place.
        var entries = LeastRecentlyUsed<String, BlobEntry>(maximumCount: OpenBlobs.maximumCount, maximumBytes: 0)
        /// The number of the place for which the texts are valid.
        var place: UInt64 = 0
        /// The scopes that are being removed, with the number of removals. Their blobs are not read meanwhile.
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

    /// The open blob for a text. This counts as a use.
    ///
    /// - Parameter place: The number of the place in which the blob was requested. If it is not the current place, no
    ///   open blob is returned, because the text may stand for another blob.
    func entry(for text: String, in place: UInt64) -> BlobEntry? {
        state.withLock { state in
            guard place == state.place, let entry = state.entries.use(text), !state.isBarred(entry.name) else {
                return nil
            }
            return entry
        }
    }

    /// Keeps a blob open for a text, if the place of the request is still the current one, and closes the blob that it
    /// has replaced.
    func insert(_ entry: BlobEntry, for text: String, in place: UInt64) {
        state.withLock { state in
            guard place == state.place else { return }
            state.close { $0.name == entry.name && $0.record.id != entry.record.id }
            _ = state.entries.insert(entry, for: text, bytes: 0)
        }
    }

    /// Enters the place with a number. Earlier texts are forgotten, because they may stand for other blobs there. A
    /// transfer that began in an earlier place adds no text any more.
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

    /// Whether a blob must not be read.
    func isBarred(_ name: RecordName) -> Bool { state.withLock { $0.isBarred(name) } }

    // MARK: Doubts

    /// Records that the bytes of a blob could not be decoded, so that the next use contacts the server.
    func doubt(_ name: RecordName) {
        state.withLock { state in
            state.close { $0.name == name }
            // A forgotten doubt only means that the blob is used once more before the server is contacted.
            if state.doubted.count >= Self.maximumDoubts { state.doubted = [] }
            state.doubted.insert(name)
        }
    }

    /// Returns whether there was a doubt, and ends it.
    func takeDoubt(of name: RecordName) -> Bool { state.withLock { $0.doubted.remove(name) != nil } }
}
