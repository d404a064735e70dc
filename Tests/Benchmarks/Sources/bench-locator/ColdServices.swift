// swift-format-ignore-file
// Counted through by a script; several to a line, because nobody reads them.

/// Services as a program has them: classes without type parameters, each registered as itself here, and as its
/// protocol in `ColdBootstrap`.
///
/// Their metadata is in the program's file, unlike that of generic types, which the runtime makes when they are first
/// used; that takes longer than registering and resolving them.
enum ColdServices {
    static let all: [any ColdService.Type] = [
        C000.self, C001.self, C002.self, C003.self, C004.self, C005.self, C006.self, C007.self, C008.self, C009.self,
        C010.self, C011.self, C012.self, C013.self, C014.self, C015.self, C016.self, C017.self, C018.self, C019.self,
        C020.self, C021.self, C022.self, C023.self, C024.self, C025.self, C026.self, C027.self, C028.self, C029.self,
        C030.self, C031.self, C032.self, C033.self, C034.self, C035.self, C036.self, C037.self, C038.self, C039.self,
        C040.self, C041.self, C042.self, C043.self, C044.self, C045.self, C046.self, C047.self, C048.self, C049.self,
        C050.self, C051.self, C052.self, C053.self, C054.self, C055.self, C056.self, C057.self, C058.self, C059.self,
        C060.self, C061.self, C062.self, C063.self, C064.self, C065.self, C066.self, C067.self, C068.self, C069.self,
        C070.self, C071.self, C072.self, C073.self, C074.self, C075.self, C076.self, C077.self, C078.self, C079.self,
        C080.self, C081.self, C082.self, C083.self, C084.self, C085.self, C086.self, C087.self, C088.self, C089.self,
        C090.self, C091.self, C092.self, C093.self, C094.self, C095.self, C096.self, C097.self, C098.self, C099.self,
        C100.self, C101.self, C102.self, C103.self, C104.self, C105.self, C106.self, C107.self, C108.self, C109.self,
        C110.self, C111.self, C112.self, C113.self, C114.self, C115.self, C116.self, C117.self, C118.self, C119.self,
        C120.self, C121.self, C122.self, C123.self, C124.self, C125.self, C126.self, C127.self, C128.self, C129.self,
        C130.self, C131.self, C132.self, C133.self, C134.self, C135.self, C136.self, C137.self, C138.self, C139.self,
        C140.self, C141.self, C142.self, C143.self, C144.self, C145.self, C146.self, C147.self, C148.self, C149.self,
        C150.self, C151.self, C152.self, C153.self, C154.self, C155.self, C156.self, C157.self, C158.self, C159.self,
        C160.self, C161.self, C162.self, C163.self, C164.self, C165.self, C166.self, C167.self, C168.self, C169.self,
        C170.self, C171.self, C172.self, C173.self, C174.self, C175.self, C176.self, C177.self, C178.self, C179.self,
        C180.self, C181.self, C182.self, C183.self, C184.self, C185.self, C186.self, C187.self, C188.self, C189.self,
        C190.self, C191.self, C192.self, C193.self, C194.self, C195.self, C196.self, C197.self, C198.self, C199.self,
        C200.self, C201.self, C202.self, C203.self, C204.self, C205.self, C206.self, C207.self, C208.self, C209.self,
        C210.self, C211.self, C212.self, C213.self, C214.self, C215.self, C216.self, C217.self, C218.self, C219.self,
        C220.self, C221.self, C222.self, C223.self, C224.self, C225.self, C226.self, C227.self, C228.self, C229.self,
        C230.self, C231.self, C232.self, C233.self, C234.self, C235.self, C236.self, C237.self, C238.self, C239.self,
        C240.self, C241.self, C242.self, C243.self, C244.self, C245.self, C246.self, C247.self, C248.self, C249.self,
        C250.self, C251.self, C252.self, C253.self, C254.self, C255.self, C256.self, C257.self, C258.self, C259.self,
        C260.self, C261.self, C262.self, C263.self, C264.self, C265.self, C266.self, C267.self, C268.self, C269.self,
        C270.self, C271.self, C272.self, C273.self, C274.self, C275.self, C276.self, C277.self, C278.self, C279.self,
        C280.self, C281.self, C282.self, C283.self, C284.self, C285.self, C286.self, C287.self, C288.self, C289.self,
        C290.self, C291.self, C292.self, C293.self, C294.self, C295.self, C296.self, C297.self, C298.self, C299.self,
        C300.self, C301.self, C302.self, C303.self, C304.self, C305.self, C306.self, C307.self, C308.self, C309.self,
        C310.self, C311.self, C312.self, C313.self, C314.self, C315.self, C316.self, C317.self, C318.self, C319.self,
        C320.self, C321.self, C322.self, C323.self, C324.self, C325.self, C326.self, C327.self, C328.self, C329.self,
        C330.self, C331.self, C332.self, C333.self, C334.self, C335.self, C336.self, C337.self, C338.self, C339.self,
        C340.self, C341.self, C342.self, C343.self, C344.self, C345.self, C346.self, C347.self, C348.self, C349.self,
        C350.self, C351.self, C352.self, C353.self, C354.self, C355.self, C356.self, C357.self, C358.self, C359.self,
        C360.self, C361.self, C362.self, C363.self, C364.self, C365.self, C366.self, C367.self, C368.self, C369.self,
        C370.self, C371.self, C372.self, C373.self, C374.self, C375.self, C376.self, C377.self, C378.self, C379.self,
        C380.self, C381.self, C382.self, C383.self, C384.self, C385.self, C386.self, C387.self, C388.self, C389.self,
        C390.self, C391.self, C392.self, C393.self, C394.self, C395.self, C396.self, C397.self, C398.self, C399.self,
        C400.self, C401.self, C402.self, C403.self, C404.self, C405.self, C406.self, C407.self, C408.self, C409.self,
        C410.self, C411.self, C412.self, C413.self, C414.self, C415.self, C416.self, C417.self, C418.self, C419.self,
        C420.self, C421.self, C422.self, C423.self, C424.self, C425.self, C426.self, C427.self, C428.self, C429.self,
        C430.self, C431.self, C432.self, C433.self, C434.self, C435.self, C436.self, C437.self, C438.self, C439.self,
        C440.self, C441.self, C442.self, C443.self, C444.self, C445.self, C446.self, C447.self, C448.self, C449.self,
        C450.self, C451.self, C452.self, C453.self, C454.self, C455.self, C456.self, C457.self, C458.self, C459.self,
        C460.self, C461.self, C462.self, C463.self, C464.self, C465.self, C466.self, C467.self, C468.self, C469.self,
        C470.self, C471.self, C472.self, C473.self, C474.self, C475.self, C476.self, C477.self, C478.self, C479.self,
        C480.self, C481.self, C482.self, C483.self, C484.self, C485.self, C486.self, C487.self, C488.self, C489.self,
        C490.self, C491.self, C492.self, C493.self, C494.self, C495.self, C496.self, C497.self, C498.self, C499.self,
        C500.self, C501.self, C502.self, C503.self, C504.self, C505.self, C506.self, C507.self, C508.self, C509.self,
        C510.self, C511.self, C512.self, C513.self, C514.self, C515.self, C516.self, C517.self, C518.self, C519.self,
        C520.self, C521.self, C522.self, C523.self, C524.self, C525.self, C526.self, C527.self, C528.self, C529.self,
        C530.self, C531.self, C532.self, C533.self, C534.self, C535.self, C536.self, C537.self, C538.self, C539.self,
        C540.self, C541.self, C542.self, C543.self, C544.self, C545.self, C546.self, C547.self, C548.self, C549.self,
        C550.self, C551.self, C552.self, C553.self, C554.self, C555.self, C556.self, C557.self, C558.self, C559.self,
        C560.self, C561.self, C562.self, C563.self, C564.self, C565.self, C566.self, C567.self, C568.self, C569.self,
        C570.self, C571.self, C572.self, C573.self, C574.self, C575.self, C576.self, C577.self, C578.self, C579.self,
        C580.self, C581.self, C582.self, C583.self, C584.self, C585.self, C586.self, C587.self, C588.self, C589.self,
        C590.self, C591.self, C592.self, C593.self, C594.self, C595.self, C596.self, C597.self, C598.self, C599.self,
        C600.self, C601.self, C602.self, C603.self, C604.self, C605.self, C606.self, C607.self, C608.self, C609.self,
        C610.self, C611.self, C612.self, C613.self, C614.self, C615.self, C616.self, C617.self, C618.self, C619.self,
        C620.self, C621.self, C622.self, C623.self, C624.self, C625.self, C626.self, C627.self, C628.self, C629.self,
        C630.self, C631.self, C632.self, C633.self, C634.self, C635.self, C636.self, C637.self, C638.self, C639.self,
        C640.self, C641.self, C642.self, C643.self, C644.self, C645.self, C646.self, C647.self, C648.self, C649.self,
        C650.self, C651.self, C652.self, C653.self, C654.self, C655.self, C656.self, C657.self, C658.self, C659.self,
        C660.self, C661.self, C662.self, C663.self, C664.self, C665.self, C666.self, C667.self, C668.self, C669.self,
        C670.self, C671.self, C672.self, C673.self, C674.self, C675.self, C676.self, C677.self, C678.self, C679.self,
        C680.self, C681.self, C682.self, C683.self, C684.self, C685.self, C686.self, C687.self, C688.self, C689.self,
        C690.self, C691.self, C692.self, C693.self, C694.self, C695.self, C696.self, C697.self, C698.self, C699.self,
        C700.self, C701.self, C702.self, C703.self, C704.self, C705.self, C706.self, C707.self, C708.self, C709.self,
        C710.self, C711.self, C712.self, C713.self, C714.self, C715.self, C716.self, C717.self, C718.self, C719.self,
        C720.self, C721.self, C722.self, C723.self, C724.self, C725.self, C726.self, C727.self, C728.self, C729.self,
        C730.self, C731.self, C732.self, C733.self, C734.self, C735.self, C736.self, C737.self, C738.self, C739.self,
        C740.self, C741.self, C742.self, C743.self, C744.self, C745.self, C746.self, C747.self, C748.self, C749.self,
        C750.self, C751.self, C752.self, C753.self, C754.self, C755.self, C756.self, C757.self, C758.self, C759.self,
        C760.self, C761.self, C762.self, C763.self, C764.self, C765.self, C766.self, C767.self, C768.self, C769.self,
        C770.self, C771.self, C772.self, C773.self, C774.self, C775.self, C776.self, C777.self, C778.self, C779.self,
        C780.self, C781.self, C782.self, C783.self, C784.self, C785.self, C786.self, C787.self, C788.self, C789.self,
        C790.self, C791.self, C792.self, C793.self, C794.self, C795.self, C796.self, C797.self, C798.self, C799.self,
        C800.self, C801.self, C802.self, C803.self, C804.self, C805.self, C806.self, C807.self, C808.self, C809.self,
        C810.self, C811.self, C812.self, C813.self, C814.self, C815.self, C816.self, C817.self, C818.self, C819.self,
        C820.self, C821.self, C822.self, C823.self, C824.self, C825.self, C826.self, C827.self, C828.self, C829.self,
        C830.self, C831.self, C832.self, C833.self, C834.self, C835.self, C836.self, C837.self, C838.self, C839.self,
        C840.self, C841.self, C842.self, C843.self, C844.self, C845.self, C846.self, C847.self, C848.self, C849.self,
        C850.self, C851.self, C852.self, C853.self, C854.self, C855.self, C856.self, C857.self, C858.self, C859.self,
        C860.self, C861.self, C862.self, C863.self, C864.self, C865.self, C866.self, C867.self, C868.self, C869.self,
        C870.self, C871.self, C872.self, C873.self, C874.self, C875.self, C876.self, C877.self, C878.self, C879.self,
        C880.self, C881.self, C882.self, C883.self, C884.self, C885.self, C886.self, C887.self, C888.self, C889.self,
        C890.self, C891.self, C892.self, C893.self, C894.self, C895.self, C896.self, C897.self, C898.self, C899.self,
        C900.self, C901.self, C902.self, C903.self, C904.self, C905.self, C906.self, C907.self, C908.self, C909.self,
        C910.self, C911.self, C912.self, C913.self, C914.self, C915.self, C916.self, C917.self, C918.self, C919.self,
        C920.self, C921.self, C922.self, C923.self, C924.self, C925.self, C926.self, C927.self, C928.self, C929.self,
        C930.self, C931.self, C932.self, C933.self, C934.self, C935.self, C936.self, C937.self, C938.self, C939.self,
        C940.self, C941.self, C942.self, C943.self, C944.self, C945.self, C946.self, C947.self, C948.self, C949.self,
        C950.self, C951.self, C952.self, C953.self, C954.self, C955.self, C956.self, C957.self, C958.self, C959.self,
        C960.self, C961.self, C962.self, C963.self, C964.self, C965.self, C966.self, C967.self, C968.self, C969.self,
        C970.self, C971.self, C972.self, C973.self, C974.self, C975.self, C976.self, C977.self, C978.self, C979.self,
        C980.self, C981.self, C982.self, C983.self, C984.self, C985.self, C986.self, C987.self, C988.self, C989.self,
        C990.self, C991.self, C992.self, C993.self, C994.self, C995.self, C996.self, C997.self, C998.self, C999.self,
    ]
}

final class C000: ColdService, P000 {}; final class C001: ColdService, P001 {}; final class C002: ColdService, P002 {}
final class C003: ColdService, P003 {}; final class C004: ColdService, P004 {}; final class C005: ColdService, P005 {}
final class C006: ColdService, P006 {}; final class C007: ColdService, P007 {}; final class C008: ColdService, P008 {}
final class C009: ColdService, P009 {}; final class C010: ColdService, P010 {}; final class C011: ColdService, P011 {}
final class C012: ColdService, P012 {}; final class C013: ColdService, P013 {}; final class C014: ColdService, P014 {}
final class C015: ColdService, P015 {}; final class C016: ColdService, P016 {}; final class C017: ColdService, P017 {}
final class C018: ColdService, P018 {}; final class C019: ColdService, P019 {}; final class C020: ColdService, P020 {}
final class C021: ColdService, P021 {}; final class C022: ColdService, P022 {}; final class C023: ColdService, P023 {}
final class C024: ColdService, P024 {}; final class C025: ColdService, P025 {}; final class C026: ColdService, P026 {}
final class C027: ColdService, P027 {}; final class C028: ColdService, P028 {}; final class C029: ColdService, P029 {}
final class C030: ColdService, P030 {}; final class C031: ColdService, P031 {}; final class C032: ColdService, P032 {}
final class C033: ColdService, P033 {}; final class C034: ColdService, P034 {}; final class C035: ColdService, P035 {}
final class C036: ColdService, P036 {}; final class C037: ColdService, P037 {}; final class C038: ColdService, P038 {}
final class C039: ColdService, P039 {}; final class C040: ColdService, P040 {}; final class C041: ColdService, P041 {}
final class C042: ColdService, P042 {}; final class C043: ColdService, P043 {}; final class C044: ColdService, P044 {}
final class C045: ColdService, P045 {}; final class C046: ColdService, P046 {}; final class C047: ColdService, P047 {}
final class C048: ColdService, P048 {}; final class C049: ColdService, P049 {}; final class C050: ColdService, P050 {}
final class C051: ColdService, P051 {}; final class C052: ColdService, P052 {}; final class C053: ColdService, P053 {}
final class C054: ColdService, P054 {}; final class C055: ColdService, P055 {}; final class C056: ColdService, P056 {}
final class C057: ColdService, P057 {}; final class C058: ColdService, P058 {}; final class C059: ColdService, P059 {}
final class C060: ColdService, P060 {}; final class C061: ColdService, P061 {}; final class C062: ColdService, P062 {}
final class C063: ColdService, P063 {}; final class C064: ColdService, P064 {}; final class C065: ColdService, P065 {}
final class C066: ColdService, P066 {}; final class C067: ColdService, P067 {}; final class C068: ColdService, P068 {}
final class C069: ColdService, P069 {}; final class C070: ColdService, P070 {}; final class C071: ColdService, P071 {}
final class C072: ColdService, P072 {}; final class C073: ColdService, P073 {}; final class C074: ColdService, P074 {}
final class C075: ColdService, P075 {}; final class C076: ColdService, P076 {}; final class C077: ColdService, P077 {}
final class C078: ColdService, P078 {}; final class C079: ColdService, P079 {}; final class C080: ColdService, P080 {}
final class C081: ColdService, P081 {}; final class C082: ColdService, P082 {}; final class C083: ColdService, P083 {}
final class C084: ColdService, P084 {}; final class C085: ColdService, P085 {}; final class C086: ColdService, P086 {}
final class C087: ColdService, P087 {}; final class C088: ColdService, P088 {}; final class C089: ColdService, P089 {}
final class C090: ColdService, P090 {}; final class C091: ColdService, P091 {}; final class C092: ColdService, P092 {}
final class C093: ColdService, P093 {}; final class C094: ColdService, P094 {}; final class C095: ColdService, P095 {}
final class C096: ColdService, P096 {}; final class C097: ColdService, P097 {}; final class C098: ColdService, P098 {}
final class C099: ColdService, P099 {}; final class C100: ColdService, P100 {}; final class C101: ColdService, P101 {}
final class C102: ColdService, P102 {}; final class C103: ColdService, P103 {}; final class C104: ColdService, P104 {}
final class C105: ColdService, P105 {}; final class C106: ColdService, P106 {}; final class C107: ColdService, P107 {}
final class C108: ColdService, P108 {}; final class C109: ColdService, P109 {}; final class C110: ColdService, P110 {}
final class C111: ColdService, P111 {}; final class C112: ColdService, P112 {}; final class C113: ColdService, P113 {}
final class C114: ColdService, P114 {}; final class C115: ColdService, P115 {}; final class C116: ColdService, P116 {}
final class C117: ColdService, P117 {}; final class C118: ColdService, P118 {}; final class C119: ColdService, P119 {}
final class C120: ColdService, P120 {}; final class C121: ColdService, P121 {}; final class C122: ColdService, P122 {}
final class C123: ColdService, P123 {}; final class C124: ColdService, P124 {}; final class C125: ColdService, P125 {}
final class C126: ColdService, P126 {}; final class C127: ColdService, P127 {}; final class C128: ColdService, P128 {}
final class C129: ColdService, P129 {}; final class C130: ColdService, P130 {}; final class C131: ColdService, P131 {}
final class C132: ColdService, P132 {}; final class C133: ColdService, P133 {}; final class C134: ColdService, P134 {}
final class C135: ColdService, P135 {}; final class C136: ColdService, P136 {}; final class C137: ColdService, P137 {}
final class C138: ColdService, P138 {}; final class C139: ColdService, P139 {}; final class C140: ColdService, P140 {}
final class C141: ColdService, P141 {}; final class C142: ColdService, P142 {}; final class C143: ColdService, P143 {}
final class C144: ColdService, P144 {}; final class C145: ColdService, P145 {}; final class C146: ColdService, P146 {}
final class C147: ColdService, P147 {}; final class C148: ColdService, P148 {}; final class C149: ColdService, P149 {}
final class C150: ColdService, P150 {}; final class C151: ColdService, P151 {}; final class C152: ColdService, P152 {}
final class C153: ColdService, P153 {}; final class C154: ColdService, P154 {}; final class C155: ColdService, P155 {}
final class C156: ColdService, P156 {}; final class C157: ColdService, P157 {}; final class C158: ColdService, P158 {}
final class C159: ColdService, P159 {}; final class C160: ColdService, P160 {}; final class C161: ColdService, P161 {}
final class C162: ColdService, P162 {}; final class C163: ColdService, P163 {}; final class C164: ColdService, P164 {}
final class C165: ColdService, P165 {}; final class C166: ColdService, P166 {}; final class C167: ColdService, P167 {}
final class C168: ColdService, P168 {}; final class C169: ColdService, P169 {}; final class C170: ColdService, P170 {}
final class C171: ColdService, P171 {}; final class C172: ColdService, P172 {}; final class C173: ColdService, P173 {}
final class C174: ColdService, P174 {}; final class C175: ColdService, P175 {}; final class C176: ColdService, P176 {}
final class C177: ColdService, P177 {}; final class C178: ColdService, P178 {}; final class C179: ColdService, P179 {}
final class C180: ColdService, P180 {}; final class C181: ColdService, P181 {}; final class C182: ColdService, P182 {}
final class C183: ColdService, P183 {}; final class C184: ColdService, P184 {}; final class C185: ColdService, P185 {}
final class C186: ColdService, P186 {}; final class C187: ColdService, P187 {}; final class C188: ColdService, P188 {}
final class C189: ColdService, P189 {}; final class C190: ColdService, P190 {}; final class C191: ColdService, P191 {}
final class C192: ColdService, P192 {}; final class C193: ColdService, P193 {}; final class C194: ColdService, P194 {}
final class C195: ColdService, P195 {}; final class C196: ColdService, P196 {}; final class C197: ColdService, P197 {}
final class C198: ColdService, P198 {}; final class C199: ColdService, P199 {}; final class C200: ColdService, P200 {}
final class C201: ColdService, P201 {}; final class C202: ColdService, P202 {}; final class C203: ColdService, P203 {}
final class C204: ColdService, P204 {}; final class C205: ColdService, P205 {}; final class C206: ColdService, P206 {}
final class C207: ColdService, P207 {}; final class C208: ColdService, P208 {}; final class C209: ColdService, P209 {}
final class C210: ColdService, P210 {}; final class C211: ColdService, P211 {}; final class C212: ColdService, P212 {}
final class C213: ColdService, P213 {}; final class C214: ColdService, P214 {}; final class C215: ColdService, P215 {}
final class C216: ColdService, P216 {}; final class C217: ColdService, P217 {}; final class C218: ColdService, P218 {}
final class C219: ColdService, P219 {}; final class C220: ColdService, P220 {}; final class C221: ColdService, P221 {}
final class C222: ColdService, P222 {}; final class C223: ColdService, P223 {}; final class C224: ColdService, P224 {}
final class C225: ColdService, P225 {}; final class C226: ColdService, P226 {}; final class C227: ColdService, P227 {}
final class C228: ColdService, P228 {}; final class C229: ColdService, P229 {}; final class C230: ColdService, P230 {}
final class C231: ColdService, P231 {}; final class C232: ColdService, P232 {}; final class C233: ColdService, P233 {}
final class C234: ColdService, P234 {}; final class C235: ColdService, P235 {}; final class C236: ColdService, P236 {}
final class C237: ColdService, P237 {}; final class C238: ColdService, P238 {}; final class C239: ColdService, P239 {}
final class C240: ColdService, P240 {}; final class C241: ColdService, P241 {}; final class C242: ColdService, P242 {}
final class C243: ColdService, P243 {}; final class C244: ColdService, P244 {}; final class C245: ColdService, P245 {}
final class C246: ColdService, P246 {}; final class C247: ColdService, P247 {}; final class C248: ColdService, P248 {}
final class C249: ColdService, P249 {}; final class C250: ColdService, P250 {}; final class C251: ColdService, P251 {}
final class C252: ColdService, P252 {}; final class C253: ColdService, P253 {}; final class C254: ColdService, P254 {}
final class C255: ColdService, P255 {}; final class C256: ColdService, P256 {}; final class C257: ColdService, P257 {}
final class C258: ColdService, P258 {}; final class C259: ColdService, P259 {}; final class C260: ColdService, P260 {}
final class C261: ColdService, P261 {}; final class C262: ColdService, P262 {}; final class C263: ColdService, P263 {}
final class C264: ColdService, P264 {}; final class C265: ColdService, P265 {}; final class C266: ColdService, P266 {}
final class C267: ColdService, P267 {}; final class C268: ColdService, P268 {}; final class C269: ColdService, P269 {}
final class C270: ColdService, P270 {}; final class C271: ColdService, P271 {}; final class C272: ColdService, P272 {}
final class C273: ColdService, P273 {}; final class C274: ColdService, P274 {}; final class C275: ColdService, P275 {}
final class C276: ColdService, P276 {}; final class C277: ColdService, P277 {}; final class C278: ColdService, P278 {}
final class C279: ColdService, P279 {}; final class C280: ColdService, P280 {}; final class C281: ColdService, P281 {}
final class C282: ColdService, P282 {}; final class C283: ColdService, P283 {}; final class C284: ColdService, P284 {}
final class C285: ColdService, P285 {}; final class C286: ColdService, P286 {}; final class C287: ColdService, P287 {}
final class C288: ColdService, P288 {}; final class C289: ColdService, P289 {}; final class C290: ColdService, P290 {}
final class C291: ColdService, P291 {}; final class C292: ColdService, P292 {}; final class C293: ColdService, P293 {}
final class C294: ColdService, P294 {}; final class C295: ColdService, P295 {}; final class C296: ColdService, P296 {}
final class C297: ColdService, P297 {}; final class C298: ColdService, P298 {}; final class C299: ColdService, P299 {}
final class C300: ColdService, P300 {}; final class C301: ColdService, P301 {}; final class C302: ColdService, P302 {}
final class C303: ColdService, P303 {}; final class C304: ColdService, P304 {}; final class C305: ColdService, P305 {}
final class C306: ColdService, P306 {}; final class C307: ColdService, P307 {}; final class C308: ColdService, P308 {}
final class C309: ColdService, P309 {}; final class C310: ColdService, P310 {}; final class C311: ColdService, P311 {}
final class C312: ColdService, P312 {}; final class C313: ColdService, P313 {}; final class C314: ColdService, P314 {}
final class C315: ColdService, P315 {}; final class C316: ColdService, P316 {}; final class C317: ColdService, P317 {}
final class C318: ColdService, P318 {}; final class C319: ColdService, P319 {}; final class C320: ColdService, P320 {}
final class C321: ColdService, P321 {}; final class C322: ColdService, P322 {}; final class C323: ColdService, P323 {}
final class C324: ColdService, P324 {}; final class C325: ColdService, P325 {}; final class C326: ColdService, P326 {}
final class C327: ColdService, P327 {}; final class C328: ColdService, P328 {}; final class C329: ColdService, P329 {}
final class C330: ColdService, P330 {}; final class C331: ColdService, P331 {}; final class C332: ColdService, P332 {}
final class C333: ColdService, P333 {}; final class C334: ColdService, P334 {}; final class C335: ColdService, P335 {}
final class C336: ColdService, P336 {}; final class C337: ColdService, P337 {}; final class C338: ColdService, P338 {}
final class C339: ColdService, P339 {}; final class C340: ColdService, P340 {}; final class C341: ColdService, P341 {}
final class C342: ColdService, P342 {}; final class C343: ColdService, P343 {}; final class C344: ColdService, P344 {}
final class C345: ColdService, P345 {}; final class C346: ColdService, P346 {}; final class C347: ColdService, P347 {}
final class C348: ColdService, P348 {}; final class C349: ColdService, P349 {}; final class C350: ColdService, P350 {}
final class C351: ColdService, P351 {}; final class C352: ColdService, P352 {}; final class C353: ColdService, P353 {}
final class C354: ColdService, P354 {}; final class C355: ColdService, P355 {}; final class C356: ColdService, P356 {}
final class C357: ColdService, P357 {}; final class C358: ColdService, P358 {}; final class C359: ColdService, P359 {}
final class C360: ColdService, P360 {}; final class C361: ColdService, P361 {}; final class C362: ColdService, P362 {}
final class C363: ColdService, P363 {}; final class C364: ColdService, P364 {}; final class C365: ColdService, P365 {}
final class C366: ColdService, P366 {}; final class C367: ColdService, P367 {}; final class C368: ColdService, P368 {}
final class C369: ColdService, P369 {}; final class C370: ColdService, P370 {}; final class C371: ColdService, P371 {}
final class C372: ColdService, P372 {}; final class C373: ColdService, P373 {}; final class C374: ColdService, P374 {}
final class C375: ColdService, P375 {}; final class C376: ColdService, P376 {}; final class C377: ColdService, P377 {}
final class C378: ColdService, P378 {}; final class C379: ColdService, P379 {}; final class C380: ColdService, P380 {}
final class C381: ColdService, P381 {}; final class C382: ColdService, P382 {}; final class C383: ColdService, P383 {}
final class C384: ColdService, P384 {}; final class C385: ColdService, P385 {}; final class C386: ColdService, P386 {}
final class C387: ColdService, P387 {}; final class C388: ColdService, P388 {}; final class C389: ColdService, P389 {}
final class C390: ColdService, P390 {}; final class C391: ColdService, P391 {}; final class C392: ColdService, P392 {}
final class C393: ColdService, P393 {}; final class C394: ColdService, P394 {}; final class C395: ColdService, P395 {}
final class C396: ColdService, P396 {}; final class C397: ColdService, P397 {}; final class C398: ColdService, P398 {}
final class C399: ColdService, P399 {}; final class C400: ColdService, P400 {}; final class C401: ColdService, P401 {}
final class C402: ColdService, P402 {}; final class C403: ColdService, P403 {}; final class C404: ColdService, P404 {}
final class C405: ColdService, P405 {}; final class C406: ColdService, P406 {}; final class C407: ColdService, P407 {}
final class C408: ColdService, P408 {}; final class C409: ColdService, P409 {}; final class C410: ColdService, P410 {}
final class C411: ColdService, P411 {}; final class C412: ColdService, P412 {}; final class C413: ColdService, P413 {}
final class C414: ColdService, P414 {}; final class C415: ColdService, P415 {}; final class C416: ColdService, P416 {}
final class C417: ColdService, P417 {}; final class C418: ColdService, P418 {}; final class C419: ColdService, P419 {}
final class C420: ColdService, P420 {}; final class C421: ColdService, P421 {}; final class C422: ColdService, P422 {}
final class C423: ColdService, P423 {}; final class C424: ColdService, P424 {}; final class C425: ColdService, P425 {}
final class C426: ColdService, P426 {}; final class C427: ColdService, P427 {}; final class C428: ColdService, P428 {}
final class C429: ColdService, P429 {}; final class C430: ColdService, P430 {}; final class C431: ColdService, P431 {}
final class C432: ColdService, P432 {}; final class C433: ColdService, P433 {}; final class C434: ColdService, P434 {}
final class C435: ColdService, P435 {}; final class C436: ColdService, P436 {}; final class C437: ColdService, P437 {}
final class C438: ColdService, P438 {}; final class C439: ColdService, P439 {}; final class C440: ColdService, P440 {}
final class C441: ColdService, P441 {}; final class C442: ColdService, P442 {}; final class C443: ColdService, P443 {}
final class C444: ColdService, P444 {}; final class C445: ColdService, P445 {}; final class C446: ColdService, P446 {}
final class C447: ColdService, P447 {}; final class C448: ColdService, P448 {}; final class C449: ColdService, P449 {}
final class C450: ColdService, P450 {}; final class C451: ColdService, P451 {}; final class C452: ColdService, P452 {}
final class C453: ColdService, P453 {}; final class C454: ColdService, P454 {}; final class C455: ColdService, P455 {}
final class C456: ColdService, P456 {}; final class C457: ColdService, P457 {}; final class C458: ColdService, P458 {}
final class C459: ColdService, P459 {}; final class C460: ColdService, P460 {}; final class C461: ColdService, P461 {}
final class C462: ColdService, P462 {}; final class C463: ColdService, P463 {}; final class C464: ColdService, P464 {}
final class C465: ColdService, P465 {}; final class C466: ColdService, P466 {}; final class C467: ColdService, P467 {}
final class C468: ColdService, P468 {}; final class C469: ColdService, P469 {}; final class C470: ColdService, P470 {}
final class C471: ColdService, P471 {}; final class C472: ColdService, P472 {}; final class C473: ColdService, P473 {}
final class C474: ColdService, P474 {}; final class C475: ColdService, P475 {}; final class C476: ColdService, P476 {}
final class C477: ColdService, P477 {}; final class C478: ColdService, P478 {}; final class C479: ColdService, P479 {}
final class C480: ColdService, P480 {}; final class C481: ColdService, P481 {}; final class C482: ColdService, P482 {}
final class C483: ColdService, P483 {}; final class C484: ColdService, P484 {}; final class C485: ColdService, P485 {}
final class C486: ColdService, P486 {}; final class C487: ColdService, P487 {}; final class C488: ColdService, P488 {}
final class C489: ColdService, P489 {}; final class C490: ColdService, P490 {}; final class C491: ColdService, P491 {}
final class C492: ColdService, P492 {}; final class C493: ColdService, P493 {}; final class C494: ColdService, P494 {}
final class C495: ColdService, P495 {}; final class C496: ColdService, P496 {}; final class C497: ColdService, P497 {}
final class C498: ColdService, P498 {}; final class C499: ColdService, P499 {}; final class C500: ColdService, P500 {}
final class C501: ColdService, P501 {}; final class C502: ColdService, P502 {}; final class C503: ColdService, P503 {}
final class C504: ColdService, P504 {}; final class C505: ColdService, P505 {}; final class C506: ColdService, P506 {}
final class C507: ColdService, P507 {}; final class C508: ColdService, P508 {}; final class C509: ColdService, P509 {}
final class C510: ColdService, P510 {}; final class C511: ColdService, P511 {}; final class C512: ColdService, P512 {}
final class C513: ColdService, P513 {}; final class C514: ColdService, P514 {}; final class C515: ColdService, P515 {}
final class C516: ColdService, P516 {}; final class C517: ColdService, P517 {}; final class C518: ColdService, P518 {}
final class C519: ColdService, P519 {}; final class C520: ColdService, P520 {}; final class C521: ColdService, P521 {}
final class C522: ColdService, P522 {}; final class C523: ColdService, P523 {}; final class C524: ColdService, P524 {}
final class C525: ColdService, P525 {}; final class C526: ColdService, P526 {}; final class C527: ColdService, P527 {}
final class C528: ColdService, P528 {}; final class C529: ColdService, P529 {}; final class C530: ColdService, P530 {}
final class C531: ColdService, P531 {}; final class C532: ColdService, P532 {}; final class C533: ColdService, P533 {}
final class C534: ColdService, P534 {}; final class C535: ColdService, P535 {}; final class C536: ColdService, P536 {}
final class C537: ColdService, P537 {}; final class C538: ColdService, P538 {}; final class C539: ColdService, P539 {}
final class C540: ColdService, P540 {}; final class C541: ColdService, P541 {}; final class C542: ColdService, P542 {}
final class C543: ColdService, P543 {}; final class C544: ColdService, P544 {}; final class C545: ColdService, P545 {}
final class C546: ColdService, P546 {}; final class C547: ColdService, P547 {}; final class C548: ColdService, P548 {}
final class C549: ColdService, P549 {}; final class C550: ColdService, P550 {}; final class C551: ColdService, P551 {}
final class C552: ColdService, P552 {}; final class C553: ColdService, P553 {}; final class C554: ColdService, P554 {}
final class C555: ColdService, P555 {}; final class C556: ColdService, P556 {}; final class C557: ColdService, P557 {}
final class C558: ColdService, P558 {}; final class C559: ColdService, P559 {}; final class C560: ColdService, P560 {}
final class C561: ColdService, P561 {}; final class C562: ColdService, P562 {}; final class C563: ColdService, P563 {}
final class C564: ColdService, P564 {}; final class C565: ColdService, P565 {}; final class C566: ColdService, P566 {}
final class C567: ColdService, P567 {}; final class C568: ColdService, P568 {}; final class C569: ColdService, P569 {}
final class C570: ColdService, P570 {}; final class C571: ColdService, P571 {}; final class C572: ColdService, P572 {}
final class C573: ColdService, P573 {}; final class C574: ColdService, P574 {}; final class C575: ColdService, P575 {}
final class C576: ColdService, P576 {}; final class C577: ColdService, P577 {}; final class C578: ColdService, P578 {}
final class C579: ColdService, P579 {}; final class C580: ColdService, P580 {}; final class C581: ColdService, P581 {}
final class C582: ColdService, P582 {}; final class C583: ColdService, P583 {}; final class C584: ColdService, P584 {}
final class C585: ColdService, P585 {}; final class C586: ColdService, P586 {}; final class C587: ColdService, P587 {}
final class C588: ColdService, P588 {}; final class C589: ColdService, P589 {}; final class C590: ColdService, P590 {}
final class C591: ColdService, P591 {}; final class C592: ColdService, P592 {}; final class C593: ColdService, P593 {}
final class C594: ColdService, P594 {}; final class C595: ColdService, P595 {}; final class C596: ColdService, P596 {}
final class C597: ColdService, P597 {}; final class C598: ColdService, P598 {}; final class C599: ColdService, P599 {}
final class C600: ColdService, P600 {}; final class C601: ColdService, P601 {}; final class C602: ColdService, P602 {}
final class C603: ColdService, P603 {}; final class C604: ColdService, P604 {}; final class C605: ColdService, P605 {}
final class C606: ColdService, P606 {}; final class C607: ColdService, P607 {}; final class C608: ColdService, P608 {}
final class C609: ColdService, P609 {}; final class C610: ColdService, P610 {}; final class C611: ColdService, P611 {}
final class C612: ColdService, P612 {}; final class C613: ColdService, P613 {}; final class C614: ColdService, P614 {}
final class C615: ColdService, P615 {}; final class C616: ColdService, P616 {}; final class C617: ColdService, P617 {}
final class C618: ColdService, P618 {}; final class C619: ColdService, P619 {}; final class C620: ColdService, P620 {}
final class C621: ColdService, P621 {}; final class C622: ColdService, P622 {}; final class C623: ColdService, P623 {}
final class C624: ColdService, P624 {}; final class C625: ColdService, P625 {}; final class C626: ColdService, P626 {}
final class C627: ColdService, P627 {}; final class C628: ColdService, P628 {}; final class C629: ColdService, P629 {}
final class C630: ColdService, P630 {}; final class C631: ColdService, P631 {}; final class C632: ColdService, P632 {}
final class C633: ColdService, P633 {}; final class C634: ColdService, P634 {}; final class C635: ColdService, P635 {}
final class C636: ColdService, P636 {}; final class C637: ColdService, P637 {}; final class C638: ColdService, P638 {}
final class C639: ColdService, P639 {}; final class C640: ColdService, P640 {}; final class C641: ColdService, P641 {}
final class C642: ColdService, P642 {}; final class C643: ColdService, P643 {}; final class C644: ColdService, P644 {}
final class C645: ColdService, P645 {}; final class C646: ColdService, P646 {}; final class C647: ColdService, P647 {}
final class C648: ColdService, P648 {}; final class C649: ColdService, P649 {}; final class C650: ColdService, P650 {}
final class C651: ColdService, P651 {}; final class C652: ColdService, P652 {}; final class C653: ColdService, P653 {}
final class C654: ColdService, P654 {}; final class C655: ColdService, P655 {}; final class C656: ColdService, P656 {}
final class C657: ColdService, P657 {}; final class C658: ColdService, P658 {}; final class C659: ColdService, P659 {}
final class C660: ColdService, P660 {}; final class C661: ColdService, P661 {}; final class C662: ColdService, P662 {}
final class C663: ColdService, P663 {}; final class C664: ColdService, P664 {}; final class C665: ColdService, P665 {}
final class C666: ColdService, P666 {}; final class C667: ColdService, P667 {}; final class C668: ColdService, P668 {}
final class C669: ColdService, P669 {}; final class C670: ColdService, P670 {}; final class C671: ColdService, P671 {}
final class C672: ColdService, P672 {}; final class C673: ColdService, P673 {}; final class C674: ColdService, P674 {}
final class C675: ColdService, P675 {}; final class C676: ColdService, P676 {}; final class C677: ColdService, P677 {}
final class C678: ColdService, P678 {}; final class C679: ColdService, P679 {}; final class C680: ColdService, P680 {}
final class C681: ColdService, P681 {}; final class C682: ColdService, P682 {}; final class C683: ColdService, P683 {}
final class C684: ColdService, P684 {}; final class C685: ColdService, P685 {}; final class C686: ColdService, P686 {}
final class C687: ColdService, P687 {}; final class C688: ColdService, P688 {}; final class C689: ColdService, P689 {}
final class C690: ColdService, P690 {}; final class C691: ColdService, P691 {}; final class C692: ColdService, P692 {}
final class C693: ColdService, P693 {}; final class C694: ColdService, P694 {}; final class C695: ColdService, P695 {}
final class C696: ColdService, P696 {}; final class C697: ColdService, P697 {}; final class C698: ColdService, P698 {}
final class C699: ColdService, P699 {}; final class C700: ColdService, P700 {}; final class C701: ColdService, P701 {}
final class C702: ColdService, P702 {}; final class C703: ColdService, P703 {}; final class C704: ColdService, P704 {}
final class C705: ColdService, P705 {}; final class C706: ColdService, P706 {}; final class C707: ColdService, P707 {}
final class C708: ColdService, P708 {}; final class C709: ColdService, P709 {}; final class C710: ColdService, P710 {}
final class C711: ColdService, P711 {}; final class C712: ColdService, P712 {}; final class C713: ColdService, P713 {}
final class C714: ColdService, P714 {}; final class C715: ColdService, P715 {}; final class C716: ColdService, P716 {}
final class C717: ColdService, P717 {}; final class C718: ColdService, P718 {}; final class C719: ColdService, P719 {}
final class C720: ColdService, P720 {}; final class C721: ColdService, P721 {}; final class C722: ColdService, P722 {}
final class C723: ColdService, P723 {}; final class C724: ColdService, P724 {}; final class C725: ColdService, P725 {}
final class C726: ColdService, P726 {}; final class C727: ColdService, P727 {}; final class C728: ColdService, P728 {}
final class C729: ColdService, P729 {}; final class C730: ColdService, P730 {}; final class C731: ColdService, P731 {}
final class C732: ColdService, P732 {}; final class C733: ColdService, P733 {}; final class C734: ColdService, P734 {}
final class C735: ColdService, P735 {}; final class C736: ColdService, P736 {}; final class C737: ColdService, P737 {}
final class C738: ColdService, P738 {}; final class C739: ColdService, P739 {}; final class C740: ColdService, P740 {}
final class C741: ColdService, P741 {}; final class C742: ColdService, P742 {}; final class C743: ColdService, P743 {}
final class C744: ColdService, P744 {}; final class C745: ColdService, P745 {}; final class C746: ColdService, P746 {}
final class C747: ColdService, P747 {}; final class C748: ColdService, P748 {}; final class C749: ColdService, P749 {}
final class C750: ColdService, P750 {}; final class C751: ColdService, P751 {}; final class C752: ColdService, P752 {}
final class C753: ColdService, P753 {}; final class C754: ColdService, P754 {}; final class C755: ColdService, P755 {}
final class C756: ColdService, P756 {}; final class C757: ColdService, P757 {}; final class C758: ColdService, P758 {}
final class C759: ColdService, P759 {}; final class C760: ColdService, P760 {}; final class C761: ColdService, P761 {}
final class C762: ColdService, P762 {}; final class C763: ColdService, P763 {}; final class C764: ColdService, P764 {}
final class C765: ColdService, P765 {}; final class C766: ColdService, P766 {}; final class C767: ColdService, P767 {}
final class C768: ColdService, P768 {}; final class C769: ColdService, P769 {}; final class C770: ColdService, P770 {}
final class C771: ColdService, P771 {}; final class C772: ColdService, P772 {}; final class C773: ColdService, P773 {}
final class C774: ColdService, P774 {}; final class C775: ColdService, P775 {}; final class C776: ColdService, P776 {}
final class C777: ColdService, P777 {}; final class C778: ColdService, P778 {}; final class C779: ColdService, P779 {}
final class C780: ColdService, P780 {}; final class C781: ColdService, P781 {}; final class C782: ColdService, P782 {}
final class C783: ColdService, P783 {}; final class C784: ColdService, P784 {}; final class C785: ColdService, P785 {}
final class C786: ColdService, P786 {}; final class C787: ColdService, P787 {}; final class C788: ColdService, P788 {}
final class C789: ColdService, P789 {}; final class C790: ColdService, P790 {}; final class C791: ColdService, P791 {}
final class C792: ColdService, P792 {}; final class C793: ColdService, P793 {}; final class C794: ColdService, P794 {}
final class C795: ColdService, P795 {}; final class C796: ColdService, P796 {}; final class C797: ColdService, P797 {}
final class C798: ColdService, P798 {}; final class C799: ColdService, P799 {}; final class C800: ColdService, P800 {}
final class C801: ColdService, P801 {}; final class C802: ColdService, P802 {}; final class C803: ColdService, P803 {}
final class C804: ColdService, P804 {}; final class C805: ColdService, P805 {}; final class C806: ColdService, P806 {}
final class C807: ColdService, P807 {}; final class C808: ColdService, P808 {}; final class C809: ColdService, P809 {}
final class C810: ColdService, P810 {}; final class C811: ColdService, P811 {}; final class C812: ColdService, P812 {}
final class C813: ColdService, P813 {}; final class C814: ColdService, P814 {}; final class C815: ColdService, P815 {}
final class C816: ColdService, P816 {}; final class C817: ColdService, P817 {}; final class C818: ColdService, P818 {}
final class C819: ColdService, P819 {}; final class C820: ColdService, P820 {}; final class C821: ColdService, P821 {}
final class C822: ColdService, P822 {}; final class C823: ColdService, P823 {}; final class C824: ColdService, P824 {}
final class C825: ColdService, P825 {}; final class C826: ColdService, P826 {}; final class C827: ColdService, P827 {}
final class C828: ColdService, P828 {}; final class C829: ColdService, P829 {}; final class C830: ColdService, P830 {}
final class C831: ColdService, P831 {}; final class C832: ColdService, P832 {}; final class C833: ColdService, P833 {}
final class C834: ColdService, P834 {}; final class C835: ColdService, P835 {}; final class C836: ColdService, P836 {}
final class C837: ColdService, P837 {}; final class C838: ColdService, P838 {}; final class C839: ColdService, P839 {}
final class C840: ColdService, P840 {}; final class C841: ColdService, P841 {}; final class C842: ColdService, P842 {}
final class C843: ColdService, P843 {}; final class C844: ColdService, P844 {}; final class C845: ColdService, P845 {}
final class C846: ColdService, P846 {}; final class C847: ColdService, P847 {}; final class C848: ColdService, P848 {}
final class C849: ColdService, P849 {}; final class C850: ColdService, P850 {}; final class C851: ColdService, P851 {}
final class C852: ColdService, P852 {}; final class C853: ColdService, P853 {}; final class C854: ColdService, P854 {}
final class C855: ColdService, P855 {}; final class C856: ColdService, P856 {}; final class C857: ColdService, P857 {}
final class C858: ColdService, P858 {}; final class C859: ColdService, P859 {}; final class C860: ColdService, P860 {}
final class C861: ColdService, P861 {}; final class C862: ColdService, P862 {}; final class C863: ColdService, P863 {}
final class C864: ColdService, P864 {}; final class C865: ColdService, P865 {}; final class C866: ColdService, P866 {}
final class C867: ColdService, P867 {}; final class C868: ColdService, P868 {}; final class C869: ColdService, P869 {}
final class C870: ColdService, P870 {}; final class C871: ColdService, P871 {}; final class C872: ColdService, P872 {}
final class C873: ColdService, P873 {}; final class C874: ColdService, P874 {}; final class C875: ColdService, P875 {}
final class C876: ColdService, P876 {}; final class C877: ColdService, P877 {}; final class C878: ColdService, P878 {}
final class C879: ColdService, P879 {}; final class C880: ColdService, P880 {}; final class C881: ColdService, P881 {}
final class C882: ColdService, P882 {}; final class C883: ColdService, P883 {}; final class C884: ColdService, P884 {}
final class C885: ColdService, P885 {}; final class C886: ColdService, P886 {}; final class C887: ColdService, P887 {}
final class C888: ColdService, P888 {}; final class C889: ColdService, P889 {}; final class C890: ColdService, P890 {}
final class C891: ColdService, P891 {}; final class C892: ColdService, P892 {}; final class C893: ColdService, P893 {}
final class C894: ColdService, P894 {}; final class C895: ColdService, P895 {}; final class C896: ColdService, P896 {}
final class C897: ColdService, P897 {}; final class C898: ColdService, P898 {}; final class C899: ColdService, P899 {}
final class C900: ColdService, P900 {}; final class C901: ColdService, P901 {}; final class C902: ColdService, P902 {}
final class C903: ColdService, P903 {}; final class C904: ColdService, P904 {}; final class C905: ColdService, P905 {}
final class C906: ColdService, P906 {}; final class C907: ColdService, P907 {}; final class C908: ColdService, P908 {}
final class C909: ColdService, P909 {}; final class C910: ColdService, P910 {}; final class C911: ColdService, P911 {}
final class C912: ColdService, P912 {}; final class C913: ColdService, P913 {}; final class C914: ColdService, P914 {}
final class C915: ColdService, P915 {}; final class C916: ColdService, P916 {}; final class C917: ColdService, P917 {}
final class C918: ColdService, P918 {}; final class C919: ColdService, P919 {}; final class C920: ColdService, P920 {}
final class C921: ColdService, P921 {}; final class C922: ColdService, P922 {}; final class C923: ColdService, P923 {}
final class C924: ColdService, P924 {}; final class C925: ColdService, P925 {}; final class C926: ColdService, P926 {}
final class C927: ColdService, P927 {}; final class C928: ColdService, P928 {}; final class C929: ColdService, P929 {}
final class C930: ColdService, P930 {}; final class C931: ColdService, P931 {}; final class C932: ColdService, P932 {}
final class C933: ColdService, P933 {}; final class C934: ColdService, P934 {}; final class C935: ColdService, P935 {}
final class C936: ColdService, P936 {}; final class C937: ColdService, P937 {}; final class C938: ColdService, P938 {}
final class C939: ColdService, P939 {}; final class C940: ColdService, P940 {}; final class C941: ColdService, P941 {}
final class C942: ColdService, P942 {}; final class C943: ColdService, P943 {}; final class C944: ColdService, P944 {}
final class C945: ColdService, P945 {}; final class C946: ColdService, P946 {}; final class C947: ColdService, P947 {}
final class C948: ColdService, P948 {}; final class C949: ColdService, P949 {}; final class C950: ColdService, P950 {}
final class C951: ColdService, P951 {}; final class C952: ColdService, P952 {}; final class C953: ColdService, P953 {}
final class C954: ColdService, P954 {}; final class C955: ColdService, P955 {}; final class C956: ColdService, P956 {}
final class C957: ColdService, P957 {}; final class C958: ColdService, P958 {}; final class C959: ColdService, P959 {}
final class C960: ColdService, P960 {}; final class C961: ColdService, P961 {}; final class C962: ColdService, P962 {}
final class C963: ColdService, P963 {}; final class C964: ColdService, P964 {}; final class C965: ColdService, P965 {}
final class C966: ColdService, P966 {}; final class C967: ColdService, P967 {}; final class C968: ColdService, P968 {}
final class C969: ColdService, P969 {}; final class C970: ColdService, P970 {}; final class C971: ColdService, P971 {}
final class C972: ColdService, P972 {}; final class C973: ColdService, P973 {}; final class C974: ColdService, P974 {}
final class C975: ColdService, P975 {}; final class C976: ColdService, P976 {}; final class C977: ColdService, P977 {}
final class C978: ColdService, P978 {}; final class C979: ColdService, P979 {}; final class C980: ColdService, P980 {}
final class C981: ColdService, P981 {}; final class C982: ColdService, P982 {}; final class C983: ColdService, P983 {}
final class C984: ColdService, P984 {}; final class C985: ColdService, P985 {}; final class C986: ColdService, P986 {}
final class C987: ColdService, P987 {}; final class C988: ColdService, P988 {}; final class C989: ColdService, P989 {}
final class C990: ColdService, P990 {}; final class C991: ColdService, P991 {}; final class C992: ColdService, P992 {}
final class C993: ColdService, P993 {}; final class C994: ColdService, P994 {}; final class C995: ColdService, P995 {}
final class C996: ColdService, P996 {}; final class C997: ColdService, P997 {}; final class C998: ColdService, P998 {}
final class C999: ColdService, P999 {}
