#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension ResponseBody {
    /// The start of a body; the rest of a stream is cancelled. Failures are ignored.
    package func beginning(upTo limit: Int) async -> Data {
        switch content {
        case .bytes(let data): return data
        case .stream(let source):
            var beginning = Data()
            while beginning.count < limit, let chunk = try? await source.next() {
                chunk.withUnsafeBytes { beginning.append(contentsOf: $0.prefix(limit - beginning.count)) }
            }
            source.cancel()
            return beginning
        }
    }
}
