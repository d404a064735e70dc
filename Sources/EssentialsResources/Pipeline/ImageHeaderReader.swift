import FoundationEssentials

/// Finds the format and the size in the first bytes of an image.
///
/// Each byte is read through ``byte(at:)``, which checks the bounds, so damaged images cannot cause a trap.
struct ImageHeaderReader {
    typealias Size = (width: Int, height: Int)

    /// The maximum number of segments and fill bytes of a JPEG before its size. Real images have fewer than 100.
    static let maximumMarkers = 4_096

    private let bytes: Data

    init(_ bytes: Data) { self.bytes = bytes }

    /// The format by the signature; `nil` if the signature is unknown.
    var format: ImageHeader.Format? {
        if has([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], at: 0) { return .png }
        if has([0xff, 0xd8, 0xff], at: 0) { return .jpeg }
        if has("GIF87a".utf8, at: 0) || has("GIF89a".utf8, at: 0) { return .gif }
        if has("RIFF".utf8, at: 0), has("WEBP".utf8, at: 8) { return .webP }
        // Two letters alone could begin any text.
        if has("BM".utf8, at: 0), let length = little(4, at: 14), Self.bitmapHeaders.contains(length) { return .bmp }
        return nil
    }

    /// The size as it is stored, which may be zero; `nil` if it is missing or damaged.
    func size(_ format: ImageHeader.Format) -> Size? {
        switch format {
        case .png: portable
        case .jpeg: jpeg
        case .gif: size(width: little(2, at: 6), height: little(2, at: 8))
        case .webP: webP
        case .bmp: bitmap
        }
    }

    // MARK: Formats

    /// The first chunk must be `IHDR`, with its 13 bytes (RFC 2083, 4.1.1). Numbers use 31 bits.
    private var portable: Size? {
        guard big(4, at: 8) == 13, has("IHDR".utf8, at: 12),
            let size = size(width: big(4, at: 16), height: big(4, at: 20)),
            size.width <= Int32.max, size.height <= Int32.max
        else { return nil }
        return size
    }

    /// Skips segments up to the frame header, which has the size (ITU-T T.81, B.1 and B.2.2).
    private var jpeg: Size? {
        var offset = 2
        for _ in 0..<Self.maximumMarkers {
            guard byte(at: offset) == 0xff, let marker = byte(at: offset + 1) else { return nil }
            switch marker {
            case 0xff: offset += 1  // a fill byte
            case 0x01, 0xd0...0xd7: offset += 2  // a marker without a segment
            case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf:
                guard let length = big(2, at: offset + 2), length >= 8 else { return nil }
                return size(width: big(2, at: offset + 7), height: big(2, at: offset + 5))
            case 0x00, 0xd8...0xda: return nil  // data, another image, its end or a scan without a frame
            default:
                guard let length = big(2, at: offset + 2), length >= 2 else { return nil }
                offset += 2 + length
            }
        }
        return nil
    }

    /// The first chunk has the size (RFC 9649, 2.5 to 2.7).
    private var webP: Size? {
        if has("VP8X".utf8, at: 12) {
            return size(width: little(3, at: 24).map { $0 + 1 }, height: little(3, at: 27).map { $0 + 1 })
        }
        if has("VP8L".utf8, at: 12) {
            // 14 bits each, then one bit for alpha, and three for the version, which is 0.
            guard byte(at: 20) == 0x2f, let bits = little(4, at: 21), bits >> 29 == 0 else { return nil }
            return (width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1)
        }
        // A key frame with its start code (RFC 6386, 9.1). The upper two bits are a scale.
        guard has("VP8 ".utf8, at: 12), let tag = byte(at: 20), tag & 1 == 0, has([0x9d, 0x01, 0x2a], at: 23) else {
            return nil
        }
        return size(width: little(2, at: 26).map { $0 & 0x3fff }, height: little(2, at: 28).map { $0 & 0x3fff })
    }

    /// The lengths of the headers of all versions.
    private static let bitmapHeaders: Set<Int> = [12, 16, 40, 52, 56, 64, 108, 124]

    /// The oldest header has two bytes for each number. In all others a negative height means that the top row is
    /// first.
    private var bitmap: Size? {
        if little(4, at: 14) == 12 { return size(width: little(2, at: 18), height: little(2, at: 20)) }
        guard let width = little(4, at: 18), let height = little(4, at: 22), width <= Int32.max else { return nil }
        return (width, height <= Int32.max ? height : (1 << 32) - height)
    }

    // MARK: Bytes

    private func size(width: Int?, height: Int?) -> Size? {
        guard let width, let height else { return nil }
        return (width, height)
    }

    /// The byte at an offset that is not negative; `nil` after the end.
    private func byte(at offset: Int) -> UInt8? {
        offset < bytes.count ? bytes[bytes.startIndex + offset] : nil
    }

    private func has(_ signature: some Sequence<UInt8>, at offset: Int) -> Bool {
        signature.enumerated().allSatisfy { byte(at: offset + $0.offset) == $0.element }
    }

    /// A number of at most four bytes, the most significant first; `nil` if it is not complete.
    private func big(_ count: Int, at offset: Int) -> Int? {
        var number = 0
        for index in 0..<count {
            guard let byte = byte(at: offset + index) else { return nil }
            number = (number << 8) | Int(byte)
        }
        return number
    }

    /// A number of at most four bytes, the least significant first; `nil` if it is not complete.
    private func little(_ count: Int, at offset: Int) -> Int? {
        var number = 0
        for index in (0..<count).reversed() {
            guard let byte = byte(at: offset + index) else { return nil }
            number = (number << 8) | Int(byte)
        }
        return number
    }
}
