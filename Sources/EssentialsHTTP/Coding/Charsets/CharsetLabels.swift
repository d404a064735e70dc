/// Maps charset labels to charsets.
enum CharsetLabels {
    /// The maximum length of a label in bytes. Longer labels are unknown.
    private static let maximumLength = 40

    static func charset(for label: some StringProtocol) -> Charset? {
        var bytes = Substring(label).utf8.drop { isSpace($0) }
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        if bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") {
            bytes = bytes.dropFirst().dropLast()
        }
        // iconv interprets more than a name: “//” begins options, and some characters are ignored. So labels are
        // checked strictly.
        guard !bytes.isEmpty, bytes.count <= maximumLength, bytes.allSatisfy(isLabelByte) else { return nil }
        let name = String(decoding: bytes, as: UTF8.self).lowercased()
        return builtIn[name] ?? system(name)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isLabelByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "-_.:".utf8.contains(byte)
    }

    private static let builtIn: [String: Charset] = {
        let labels: [(Charset, [String])] = [
            (.utf8, ["utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"]),
            (.utf16, ["utf-16", "utf16", "iso-10646-ucs-2", "ucs-2", "csunicode", "unicode"]),
            (.utf16BigEndian, ["utf-16be", "utf16be", "unicodefffe"]),
            (.utf16LittleEndian, ["utf-16le", "utf16le", "unicodefeff"]),
            (.utf32, ["utf-32", "utf32", "ucs-4", "iso-10646-ucs-4"]),
            (.utf32BigEndian, ["utf-32be", "utf32be"]), (.utf32LittleEndian, ["utf-32le", "utf32le"]),
            (
                .ascii,
                [
                    "us-ascii", "ascii", "us", "iso-ir-6", "iso646-us", "iso_646.irv:1991", "ansi_x3.4-1968",
                    "ansi_x3.4-1986", "ibm367", "cp367", "csascii",
                ]
            ),
            (
                .latin1,
                [
                    "iso-8859-1", "iso_8859-1", "iso8859-1", "iso88591", "iso_8859-1:1987", "latin1", "latin-1", "l1",
                    "iso-ir-100", "ibm819", "cp819", "csisolatin1",
                ]
            ),
            (.windows1252, ["windows-1252", "cp1252", "cp-1252", "x-cp1252", "ansi"]),
        ]
        return Dictionary(labels.flatMap { charset, names in names.map { ($0, charset) } }) { first, _ in first }
    }()

    /// Labels that iconv does not know, or that stand for a superset (WHATWG Encoding Standard, 4.2).
    private static let aliases: [String: String] = [
        "shift_jis": "cp932", "shift-jis": "cp932", "x-sjis": "cp932", "sjis": "cp932", "ms_kanji": "cp932",
        "csshiftjis": "cp932", "windows-31j": "cp932", "x-euc-jp": "euc-jp", "gb2312": "gb18030", "gb_2312": "gb18030",
        "gb_2312-80": "gb18030", "csgb2312": "gb18030", "iso-ir-58": "gb18030", "x-gbk": "gb18030", "gbk": "gb18030",
        "euc-kr": "uhc", "ks_c_5601-1987": "uhc", "ks_c_5601-1989": "uhc", "ksc5601": "uhc", "ksc_5601": "uhc",
        "korean": "uhc", "cseuckr": "uhc", "windows-949": "uhc", "big5": "big5-hkscs", "big-5": "big5-hkscs",
        "cn-big5": "big5-hkscs", "x-x-big5": "big5-hkscs", "csbig5": "big5-hkscs", "iso-8859-9": "cp1254",
        "iso_8859-9": "cp1254", "latin5": "cp1254", "l5": "cp1254", "iso-8859-11": "cp874", "tis-620": "cp874",
        "windows-874": "cp874", "dos-874": "cp874", "iso-8859-8-i": "iso-8859-8", "iso-8859-8-e": "iso-8859-8",
        "x-mac-roman": "macintosh", "x-mac-cyrillic": "mac-cyrillic", "x-mac-ukrainian": "mac-cyrillic",
    ]

    /// Charsets that a peer must not choose, because the peer controls the label: those that can hide markup from
    /// filters, those whose conversion tables had vulnerabilities, and those that are internal to a process.
    private static let refused = ["utf", "ucs", "2022cn", "2022kr", "char", "internal"]

    private static func system(_ name: String) -> Charset? {
        let letters = name.filter { $0.isLetter || $0.isNumber }
        guard !refused.contains(where: { letters.contains($0) }) else { return nil }
        let systemName = aliases[name] ?? name
        guard SystemCharset.isKnown(systemName) else { return nil }
        return Charset(kind: .system(systemName), name: name)
    }
}
