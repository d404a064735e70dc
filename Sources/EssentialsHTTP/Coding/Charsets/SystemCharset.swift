import EssentialsTools

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Charsets of the system's iconv. Only Glibc's is used; elsewhere no charset is known.
enum SystemCharset {
    /// Whether iconv converts the charset in both directions.
    static func isKnown(_ name: String) -> Bool {
        #if canImport(Glibc)
            return Conversion(from: name, to: "UTF-8") != nil && Conversion(from: "UTF-8", to: name) != nil
        #else
            return false
        #endif
    }

    /// Encodes text; `nil` if the charset cannot represent a character.
    static func encode(_ text: String, _ name: String) -> Data? {
        #if canImport(Glibc)
            var conversion = Conversion(from: "UTF-8", to: name)
            return conversion?.run(Data(text.utf8), isLenient: false)
        #else
            return nil
        #endif
    }

    /// Decodes bytes; `nil` if they are invalid and decoding is not lenient.
    static func decode(_ bytes: Data, _ name: String, _ isLenient: Bool) -> String? {
        #if canImport(Glibc)
            var conversion = Conversion(from: name, to: "UTF-8")
            guard let text = conversion?.run(bytes, isLenient: isLenient) else { return nil }
            return UnicodeUnits.utf8Text(text, isLenient)
        #else
            return nil
        #endif
    }
}

#if canImport(Glibc)
    extension SystemCharset {
        /// One conversion with iconv(3).
        struct Conversion: ~Copyable {
            private let descriptor: iconv_t

            /// The size of the output buffer in bytes.
            private static let pieceSize = 16_384
            /// The maximum number of output bytes for each input byte. No charset needs that many.
            private static let maximumGrowth = 16

            /// Opens a converter; `nil` if iconv does not know one of the names.
            init?(from source: String, to target: String) {
                guard let opened = iconv_open(target, source), opened != iconv_t(bitPattern: -1) else { return nil }
                descriptor = opened
            }

            deinit { iconv_close(descriptor) }

            /// Converts the bytes; `nil` if some are invalid, unless lenient conversion may replace them by U+FFFD in
            /// UTF-8.
            mutating func run(_ bytes: Data, isLenient: Bool) -> Data? {
                var result = Data()
                let maximum = bytes.count * Self.maximumGrowth + 64
                // iconv takes a mutable pointer but does not write through it. The copy is cheap.
                var input = bytes.map { CChar(bitPattern: $0) }
                var piece = [CChar](repeating: 0, count: Self.pieceSize)
                let isConverted = input.withUnsafeMutableBufferPointer { input in
                    piece.withUnsafeMutableBufferPointer { piece in
                        convert(input, piece, isLenient: isLenient, maximum: maximum, into: &result)
                    }
                }
                return isConverted ? result : nil
            }

            private func convert(
                _ input: UnsafeMutableBufferPointer<CChar>, _ piece: UnsafeMutableBufferPointer<CChar>,
                isLenient: Bool, maximum: Int, into result: inout Data
            ) -> Bool {
                var next = input.baseAddress
                var left = input.count
                var isFlushing = left == 0
                while result.count <= maximum {
                    var end = piece.baseAddress
                    var free = piece.count
                    // A call without input writes what the converter has buffered, such as the shift sequence at the
                    // end.
                    let outcome =
                        isFlushing
                        ? iconv(descriptor, nil, nil, &end, &free) : iconv(descriptor, &next, &left, &end, &free)
                    let error = errno
                    result.append(
                        contentsOf: UnsafeRawBufferPointer(
                            rebasing: UnsafeRawBufferPointer(piece)[..<(piece.count - free)]))
                    if outcome != -1 {
                        if isFlushing { return true }
                        isFlushing = true
                    } else if error != E2BIG {
                        guard isLenient, !isFlushing, error == EILSEQ || error == EINVAL else { return false }
                        // Skip the invalid byte, or the incomplete character at the end.
                        let skipped = error == EINVAL ? left : 1
                        next = next?.advanced(by: skipped)
                        left -= skipped
                        result.append(contentsOf: [0xef, 0xbf, 0xbd])
                        isFlushing = left == 0
                    } else if free == piece.count {
                        return false
                    }
                }
                return false
            }
        }
    }
#endif
