import CEssentials
import EssentialsTransport
import FoundationEssentials

/// Cuts the pieces of a streamed request body to fit libcurl's buffers. Only the engine's thread uses it.
struct UploadReader {
    let pump: UploadPump
    /// The piece that is being sent, and the number of its bytes that were sent.
    private var piece = Data()
    private var sent = 0

    /// Creates a reader if the body is a stream.
    init?(_ body: RequestBody) {
        guard case .stream(let length, _, let open) = body.content else { return nil }
        pump = UploadPump(length: length, open: open)
    }

    /// Moves the next bytes of the body into a buffer.
    mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> ce_supply {
        var supply = ce_supply()
        while supply.count < buffer.count {
            if sent == piece.count {
                (piece, sent) = (Data(), 0)
                switch pump.take(waits: supply.count == 0) {
                case .piece(let next): piece = next
                case .end: supply.ended = true
                case .later: break
                }
                if piece.isEmpty { break }
            }
            let start = piece.startIndex + sent
            let count = min(buffer.count - supply.count, piece.count - sent)
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[supply.count..<supply.count + count])
            piece.copyBytes(to: target, from: start..<start + count)
            sent += count
            supply.count += count
        }
        supply.available = supply.count + piece.count - sent
        return supply
    }

    /// Stops reading the source.
    mutating func stop() {
        pump.stop()
        (piece, sent) = (Data(), 0)
    }
}
