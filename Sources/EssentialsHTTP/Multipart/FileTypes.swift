/// The media types of common files by file name extension.
enum FileTypes {
    private static let types = [
        // Text
        "txt": "text/plain", "text": "text/plain", "log": "text/plain", "csv": "text/csv",
        "tsv": "text/tab-separated-values", "html": "text/html", "htm": "text/html", "css": "text/css",
        "js": "text/javascript", "mjs": "text/javascript", "md": "text/markdown", "ics": "text/calendar",
        "vcf": "text/vcard", "vtt": "text/vtt",
        // Structured data
        "json": "application/json", "geojson": "application/geo+json", "jsonld": "application/ld+json",
        "xml": "application/xml", "xhtml": "application/xhtml+xml", "yaml": "application/yaml",
        "yml": "application/yaml", "rtf": "application/rtf", "wasm": "application/wasm",
        "sqlite": "application/vnd.sqlite3",
        // Images
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "avif": "image/avif", "heic": "image/heic", "heif": "image/heif", "svg": "image/svg+xml",
        "bmp": "image/bmp", "tif": "image/tiff", "tiff": "image/tiff", "ico": "image/vnd.microsoft.icon",
        // Audio
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "aac": "audio/aac", "oga": "audio/ogg", "ogg": "audio/ogg",
        "opus": "audio/ogg", "flac": "audio/flac", "wav": "audio/vnd.wave", "mid": "audio/midi",
        // Video
        "mp4": "video/mp4", "m4v": "video/mp4", "mov": "video/quicktime", "webm": "video/webm", "ogv": "video/ogg",
        "mpeg": "video/mpeg", "mpg": "video/mpeg", "mkv": "video/matroska",
        // Documents
        "pdf": "application/pdf", "epub": "application/epub+zip", "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt": "application/vnd.oasis.opendocument.text", "ods": "application/vnd.oasis.opendocument.spreadsheet",
        // Archives
        "zip": "application/zip", "gz": "application/gzip", "zst": "application/zstd",
        "7z": "application/x-7z-compressed", "tar": "application/x-tar", "bz2": "application/x-bzip2",
        // Fonts
        "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",
    ]

    /// The media type of a file with this name; `nil` if the extension is unknown. A leading dot hides a file and does
    /// not begin an extension.
    static func type(ofFileNamed name: String) -> String? {
        let name = name.utf8.split(separator: UInt8(ascii: "/")).last.map { Substring($0) } ?? ""
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        return types[name[name.index(after: dot)...].lowercased()]
    }
}
