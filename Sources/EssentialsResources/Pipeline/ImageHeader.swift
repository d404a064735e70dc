public import EssentialsHTTP
public import FoundationEssentials

/// The format and the size of an image, read from the beginning of its file. No pixel is decoded.
///
/// ```swift
/// let logo: Resource<Data> = service.resource("logo")
/// let header = try await logo.imageHeader.loadIfNeeded()
/// show("\(header.format), \(header.width) × \(header.height)")
/// ```
///
/// The first bytes decide the format, regardless of the media type. Only the header is read, so the rest of the image
/// can still be damaged.
public struct ImageHeader: Sendable, Hashable {
    /// A format of images.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// Portable Network Graphics (RFC 2083).
        case png
        /// JPEG (ITU-T T.81), baseline or progressive.
        case jpeg
        /// Graphics Interchange Format, 87a or 89a.
        case gif
        /// WebP (RFC 9649): lossy, lossless or extended.
        case webP
        /// A bitmap of Windows or OS/2.
        case bmp
    }

    /// The format.
    public let format: Format
    /// The width in pixels, at least 1.
    public let width: Int
    /// The height in pixels, at least 1. A camera may have stored the picture on its side; its Exif data are not read.
    public let height: Int

    /// Reads the header of an image.
    ///
    /// - Parameter bytes: The file, or its beginning. In a JPEG, pictures and profiles of any length can precede the
    ///   size. All other formats have the size in the first 30 bytes.
    /// - Throws: `decoding` if the bytes do not begin like one of the formats, or if the size is missing or zero.
    public init(_ bytes: Data) throws(RequestFailure) {
        let reader = ImageHeaderReader(bytes)
        guard let format = reader.format else {
            throw RequestFailure(
                .decoding, "The bytes do not begin like a PNG, JPEG, GIF, WebP or BMP image.",
                remedy: "Check the URL and the response's Content-Type, or request Data.", phase: .decoding)
        }
        guard let size = reader.size(format), size.width > 0, size.height > 0 else {
            throw RequestFailure(
                .decoding, "The image begins like \(format.rawValue), but it has no valid size.",
                remedy: "Check that the image is complete, or request Data.", phase: .decoding)
        }
        (self.format, width, height) = (format, size.width, size.height)
    }
}
