import EssentialsHTTP
import EssentialsResources
import FoundationEssentials
import TestTools
import Testing

/// A whole image of 3 × 2 pixels, as an encoder has written it.
struct ImageSample: Sendable, CustomTestStringConvertible {
    let name: String
    let format: ImageHeader.Format
    /// The number of bytes up to the end of the size.
    let headerLength: Int
    let file: String

    var testDescription: String { name }
    var bytes: Data { Data(base64Encoded: file) ?? Data() }
}

private let samples = [
    ImageSample(
        name: "PNG", format: .png, headerLength: 24,
        file: "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP8zwAFTDAGAwATKQED8NgHhAAAAABJRU5ErkJggg=="
    ),
    ImageSample(
        name: "GIF", format: .gif, headerLength: 10,
        file: "R0lGODdhAwACAIEAAP8AAAAAAAAAAAAAACwAAAAAAwACAAAIBgABCBwYEAA7"),
    ImageSample(
        name: "BMP", format: .bmp, headerLength: 26,
        file: "Qk1OAAAAAAAAADYAAAAoAAAAAwAAAAIAAAABABgAAAAAABgAAADEDgAAxA4AAAAAAAAAAAAAAAD/AAD/AAD/AAAAAAD/AAD/AAD/"
            + "AAAA"),
    ImageSample(
        name: "JPEG", format: .jpeg, headerLength: 167,
        file: "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP//////////////////////////////////////////////////////////////////"
            + "////////////////////2wBDAf//////////////////////////////////////////////////////////////////////////"
            + "////////////wAARCAACAAMDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAL/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QA"
            + "FQEBAQAAAAAAAAAAAAAAAAAAAQP/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCQAo//2Q=="),
    ImageSample(
        name: "lossy WebP", format: .webP, headerLength: 30,
        file: "UklGRjIAAABXRUJQVlA4ICYAAABwAQCdASoDAAIADMDOJaACdAFAAAD+3FHSXS5Df6u/O36ntgAAAA=="),
    ImageSample(
        name: "lossless WebP", format: .webP, headerLength: 25,
        file: "UklGRhwAAABXRUJQVlA4TA8AAAAvAkAAAAcQ/Y/+ByKi/wEA"),
    ImageSample(
        name: "extended WebP", format: .webP, headerLength: 30,
        file: "UklGRlQAAABXRUJQVlA4WAoAAAAQAAAAAgAAAQAAQUxQSAcAAAAAgICAgICAAFZQOCAmAAAAcAEAnQEqAwACAAzAziWgAnQBQAAA"
            + "/txR0l0uQ3+rvzt+p7YAAAA="),
]

/// The signature of a PNG, and the length of its first chunk.
private let png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d]

/// Images without a valid size, and their formats.
private let withoutSize: [([UInt8], String)] = [
    (bytes("GIF89a", [0, 0, 1, 0]), "gif"), (bytes("GIF89a", [1, 0, 0, 0]), "gif"),
    (bytes("RIFF----WEBPALPH", [UInt8](repeating: 1, count: 32)), "webP"),
    (png + bytes("CgBI", [0, 0, 0, 1, 0, 0, 0, 1]), "png"), (png + bytes("IHDR", [0x80, 0, 0, 0, 0, 0, 0, 1]), "png"),
]

private func bytes(_ text: String, _ more: [UInt8]) -> [UInt8] { Array(text.utf8) + more }

@Suite("Image headers")
struct ImageHeaderTests {
    private func size(_ bytes: [UInt8]) throws -> [Int] {
        let header = try ImageHeader(Data(bytes))
        return [header.width, header.height]
    }

    @Test("Format and size are read from whole images", arguments: samples)
    func whole(sample: ImageSample) throws {
        let header = try ImageHeader(sample.bytes)
        #expect(header.format == sample.format)
        #expect(header.width == 3)
        #expect(header.height == 2)
        // A slice does not begin at index 0.
        #expect(try ImageHeader((Data([1, 2, 3]) + sample.bytes)[3...]) == header)
    }

    @Test(
        "A truncated image has a header if the size is there, and fails as decoding otherwise",
        arguments: samples)
    func prefixes(sample: ImageSample) throws {
        let bytes = sample.bytes
        let header = try ImageHeader(bytes)
        for count in 0...bytes.count {
            let prefix = bytes.prefix(count)
            if count < sample.headerLength {
                #expect(throws: RequestFailure(.decoding, "")) { try ImageHeader(prefix) }
            } else {
                #expect(try ImageHeader(prefix) == header)
            }
        }
    }

    @Test(
        "A damaged byte gives another size or fails as decoding, and after the size it changes nothing",
        arguments: samples)
    func damage(sample: ImageSample) throws {
        let bytes = sample.bytes
        let header = try ImageHeader(bytes)
        for index in 0..<bytes.count {
            for mask in (0..<8).map({ UInt8(1) << $0 }) + [0xff] {
                var damaged = bytes
                damaged[index] ^= mask
                if index >= sample.headerLength {
                    #expect(try ImageHeader(damaged) == header)
                    continue
                }
                do throws(RequestFailure) {
                    let other = try ImageHeader(damaged)
                    #expect(other.width > 0 && other.height > 0)
                } catch {
                    #expect(error.reason == .decoding)
                }
            }
        }
    }

    @Test("Random bytes after each signature give a size or fail as decoding")
    func random() {
        var numbers = SeededNumbers(state: 27)
        for sample in samples {
            for _ in 0..<2_000 {
                let kept = Int.random(in: 2...sample.headerLength, using: &numbers)
                let length = Int.random(in: 0...64, using: &numbers)
                // Half of the bytes are markers of JPEG.
                let more = (0..<length).map { _ in
                    Bool.random(using: &numbers) ? 0xff : UInt8.random(in: 0...255, using: &numbers)
                }
                do throws(RequestFailure) {
                    let header = try ImageHeader(sample.bytes.prefix(kept) + Data(more))
                    #expect(header.width > 0 && header.height > 0)
                } catch {
                    #expect(error.reason == .decoding)
                }
            }
        }
    }
}

// MARK: - Details of the formats

extension ImageHeaderTests {
    @Test("Sizes of more than one byte are read in the byte order of their format")
    func large() throws {
        #expect(try size(png + Array("IHDR".utf8) + [0, 0, 0x01, 0x2c, 0, 0, 0x02, 0x05]) == [300, 517])
        #expect(try size(Array("GIF89a".utf8) + [0x2c, 0x01, 0x05, 0x02]) == [300, 517])
        let webP = Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBP".utf8)
        let lossy: [UInt8] = [0, 0, 0, 0, 0xf0, 0x24, 0, 0x9d, 0x01, 0x2a, 0x2c, 0x01, 0x05, 0x02]
        #expect(try size(webP + Array("VP8 ".utf8) + lossy) == [300, 517])
        let lossless: [UInt8] = [0, 0, 0, 0, 0x2f, 0x2b, 0x01, 0x81, 0]
        #expect(try size(webP + Array("VP8L".utf8) + lossless) == [300, 517])
        let extended: [UInt8] = [0x0a, 0, 0, 0, 0x10, 0, 0, 0, 0x2b, 0x01, 0, 0x04, 0x02, 0]
        #expect(try size(webP + Array("VP8X".utf8) + extended) == [300, 517])
        let largest: [UInt8] = [0x0a, 0, 0, 0, 0x10, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]
        #expect(try size(webP + Array("VP8X".utf8) + largest) == [1 << 24, 1 << 24])
    }

    @Test("The scale of a lossy WebP is not part of its size, and a picture that is not a key frame has no size")
    func lossyWebP() throws {
        let head = Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPVP8 ".utf8) + [0, 0, 0, 0]
        let size: [UInt8] = [0x9d, 0x01, 0x2a, 0x03, 0x40, 0x02, 0xc0]
        #expect(try self.size(head + [0x70, 0x01, 0] + size) == [3, 2])
        #expect(throws: RequestFailure(.decoding, "")) { try self.size(head + [0x71, 0x01, 0] + size) }
    }

    @Test(
        "A bitmap has its size in the header of its version, and its rows can begin at the top",
        arguments: [
            ([12, 0, 0, 0, 0x2c, 0x01, 0x05, 0x02], [300, 517]), ([16, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0], [3, 2]),
            ([40, 0, 0, 0, 3, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff], [3, 2]),
            ([124, 0, 0, 0, 0x2c, 0x01, 0, 0, 0x05, 0x02, 0, 0], [300, 517]),
            ([40, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0x80], [3, 1 << 31]),
            // A width that is negative, a height of zero, and a header of unknown length.
            ([40, 0, 0, 0, 0xfd, 0xff, 0xff, 0xff, 2, 0, 0, 0], nil), ([40, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0], nil),
            ([41, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0], nil),
        ] as [([UInt8], [Int]?)])
    func bitmaps(header: [UInt8], expected: [Int]?) {
        let start = Array("BM".utf8) + [UInt8](repeating: 0, count: 12)
        #expect((try? size(start + header)) == expected)
    }

    @Test("The size of a JPEG is found after segments, fill bytes and markers without a segment")
    func segments() throws {
        let frame: [UInt8] = [0xff, 0xc2, 0, 0x11, 8, 0x02, 0x05, 0x01, 0x2c]
        let profile: [UInt8] = [0xff, 0xe2, 0xff, 0xff] + [UInt8](repeating: 0xc0, count: 0xfffd)
        #expect(try size([0xff, 0xd8] + frame) == [300, 517])
        #expect(try size([0xff, 0xd8] + profile + profile + profile + frame) == [300, 517])
        #expect(try size([0xff, 0xd8, 0xff, 0xff, 0xff] + frame + [1]) == [300, 517])
        #expect(try size([0xff, 0xd8, 0xff, 0x01, 0xff, 0xd3, 0xff, 0xe1, 0, 2] + frame) == [300, 517])
        // A table that is not a frame, although its number lies among those of frames.
        #expect(try size([0xff, 0xd8, 0xff, 0xc4, 0, 4, 9, 9] + frame) == [300, 517])
    }

    @Test(
        "A JPEG without a frame header, with a scan before it or with a damaged segment fails",
        arguments: [
            [0xff, 0xd9], [0xff, 0xda, 0, 2], [0xff, 0xd8], [0xff, 0x00], [0xff, 0xe1, 0, 1], [0xff, 0xe1, 0, 0],
            [0xff, 0xc0, 0, 7, 8, 0, 2, 0, 3], [0xff, 0xc0, 0, 0x11, 8, 0, 0, 0, 3], [0xff, 0xe1, 0xff, 0xff],
        ] as [[UInt8]])
    func noFrame(segment: [UInt8]) {
        let frame: [UInt8] = [0xff, 0xc0, 0, 0x11, 8, 0, 2, 0, 3]
        #expect(throws: RequestFailure(.decoding, "")) { try size([0xff, 0xd8] + segment + frame) }
    }

    @Test("A JPEG with more segments or fill bytes than any image has is not searched further")
    func bounded() throws {
        let frame: [UInt8] = [0xff, 0xc0, 0, 0x11, 8, 0, 2, 0, 3]
        func image(_ count: Int) -> [UInt8] { [0xff, 0xd8] + [UInt8](repeating: 0xff, count: count) + frame }
        #expect(try size(image(4_095)) == [3, 2])
        #expect(throws: RequestFailure(.decoding, "")) { try size(image(4_096)) }
    }

    @Test(
        "A size of zero, a first chunk of another kind and a number that is too large fail and name the format",
        arguments: withoutSize)
    func noSize(bytes: [UInt8], format: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try ImageHeader(Data(bytes)) }
        #expect(failure.reason == .decoding)
        #expect(failure.message.contains(format))
        #expect(failure.remedy?.contains("complete") == true)
    }

    @Test(
        "Other bytes fail with a message that names the expected formats",
        arguments: ["", "<svg/>", "BMW is not an image of any kind.", "RIFF"])
    func otherBytes(text: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try ImageHeader(Data(text.utf8)) }
        #expect(failure.reason == .decoding)
        #expect(failure.phase == .decoding)
        #expect(failure.message.contains("PNG, JPEG, GIF, WebP or BMP"))
        #expect(failure.remedy?.contains("Content-Type") == true)
    }
}
