// swift-format-ignore-file
// Counted through by a script; several to a line, because nobody reads them.

/// Services as a program has them: classes without type parameters, each registered as itself.
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

final class C000: ColdService {}; final class C001: ColdService {}; final class C002: ColdService {}
final class C003: ColdService {}; final class C004: ColdService {}; final class C005: ColdService {}
final class C006: ColdService {}; final class C007: ColdService {}; final class C008: ColdService {}
final class C009: ColdService {}; final class C010: ColdService {}; final class C011: ColdService {}
final class C012: ColdService {}; final class C013: ColdService {}; final class C014: ColdService {}
final class C015: ColdService {}; final class C016: ColdService {}; final class C017: ColdService {}
final class C018: ColdService {}; final class C019: ColdService {}; final class C020: ColdService {}
final class C021: ColdService {}; final class C022: ColdService {}; final class C023: ColdService {}
final class C024: ColdService {}; final class C025: ColdService {}; final class C026: ColdService {}
final class C027: ColdService {}; final class C028: ColdService {}; final class C029: ColdService {}
final class C030: ColdService {}; final class C031: ColdService {}; final class C032: ColdService {}
final class C033: ColdService {}; final class C034: ColdService {}; final class C035: ColdService {}
final class C036: ColdService {}; final class C037: ColdService {}; final class C038: ColdService {}
final class C039: ColdService {}; final class C040: ColdService {}; final class C041: ColdService {}
final class C042: ColdService {}; final class C043: ColdService {}; final class C044: ColdService {}
final class C045: ColdService {}; final class C046: ColdService {}; final class C047: ColdService {}
final class C048: ColdService {}; final class C049: ColdService {}; final class C050: ColdService {}
final class C051: ColdService {}; final class C052: ColdService {}; final class C053: ColdService {}
final class C054: ColdService {}; final class C055: ColdService {}; final class C056: ColdService {}
final class C057: ColdService {}; final class C058: ColdService {}; final class C059: ColdService {}
final class C060: ColdService {}; final class C061: ColdService {}; final class C062: ColdService {}
final class C063: ColdService {}; final class C064: ColdService {}; final class C065: ColdService {}
final class C066: ColdService {}; final class C067: ColdService {}; final class C068: ColdService {}
final class C069: ColdService {}; final class C070: ColdService {}; final class C071: ColdService {}
final class C072: ColdService {}; final class C073: ColdService {}; final class C074: ColdService {}
final class C075: ColdService {}; final class C076: ColdService {}; final class C077: ColdService {}
final class C078: ColdService {}; final class C079: ColdService {}; final class C080: ColdService {}
final class C081: ColdService {}; final class C082: ColdService {}; final class C083: ColdService {}
final class C084: ColdService {}; final class C085: ColdService {}; final class C086: ColdService {}
final class C087: ColdService {}; final class C088: ColdService {}; final class C089: ColdService {}
final class C090: ColdService {}; final class C091: ColdService {}; final class C092: ColdService {}
final class C093: ColdService {}; final class C094: ColdService {}; final class C095: ColdService {}
final class C096: ColdService {}; final class C097: ColdService {}; final class C098: ColdService {}
final class C099: ColdService {}; final class C100: ColdService {}; final class C101: ColdService {}
final class C102: ColdService {}; final class C103: ColdService {}; final class C104: ColdService {}
final class C105: ColdService {}; final class C106: ColdService {}; final class C107: ColdService {}
final class C108: ColdService {}; final class C109: ColdService {}; final class C110: ColdService {}
final class C111: ColdService {}; final class C112: ColdService {}; final class C113: ColdService {}
final class C114: ColdService {}; final class C115: ColdService {}; final class C116: ColdService {}
final class C117: ColdService {}; final class C118: ColdService {}; final class C119: ColdService {}
final class C120: ColdService {}; final class C121: ColdService {}; final class C122: ColdService {}
final class C123: ColdService {}; final class C124: ColdService {}; final class C125: ColdService {}
final class C126: ColdService {}; final class C127: ColdService {}; final class C128: ColdService {}
final class C129: ColdService {}; final class C130: ColdService {}; final class C131: ColdService {}
final class C132: ColdService {}; final class C133: ColdService {}; final class C134: ColdService {}
final class C135: ColdService {}; final class C136: ColdService {}; final class C137: ColdService {}
final class C138: ColdService {}; final class C139: ColdService {}; final class C140: ColdService {}
final class C141: ColdService {}; final class C142: ColdService {}; final class C143: ColdService {}
final class C144: ColdService {}; final class C145: ColdService {}; final class C146: ColdService {}
final class C147: ColdService {}; final class C148: ColdService {}; final class C149: ColdService {}
final class C150: ColdService {}; final class C151: ColdService {}; final class C152: ColdService {}
final class C153: ColdService {}; final class C154: ColdService {}; final class C155: ColdService {}
final class C156: ColdService {}; final class C157: ColdService {}; final class C158: ColdService {}
final class C159: ColdService {}; final class C160: ColdService {}; final class C161: ColdService {}
final class C162: ColdService {}; final class C163: ColdService {}; final class C164: ColdService {}
final class C165: ColdService {}; final class C166: ColdService {}; final class C167: ColdService {}
final class C168: ColdService {}; final class C169: ColdService {}; final class C170: ColdService {}
final class C171: ColdService {}; final class C172: ColdService {}; final class C173: ColdService {}
final class C174: ColdService {}; final class C175: ColdService {}; final class C176: ColdService {}
final class C177: ColdService {}; final class C178: ColdService {}; final class C179: ColdService {}
final class C180: ColdService {}; final class C181: ColdService {}; final class C182: ColdService {}
final class C183: ColdService {}; final class C184: ColdService {}; final class C185: ColdService {}
final class C186: ColdService {}; final class C187: ColdService {}; final class C188: ColdService {}
final class C189: ColdService {}; final class C190: ColdService {}; final class C191: ColdService {}
final class C192: ColdService {}; final class C193: ColdService {}; final class C194: ColdService {}
final class C195: ColdService {}; final class C196: ColdService {}; final class C197: ColdService {}
final class C198: ColdService {}; final class C199: ColdService {}; final class C200: ColdService {}
final class C201: ColdService {}; final class C202: ColdService {}; final class C203: ColdService {}
final class C204: ColdService {}; final class C205: ColdService {}; final class C206: ColdService {}
final class C207: ColdService {}; final class C208: ColdService {}; final class C209: ColdService {}
final class C210: ColdService {}; final class C211: ColdService {}; final class C212: ColdService {}
final class C213: ColdService {}; final class C214: ColdService {}; final class C215: ColdService {}
final class C216: ColdService {}; final class C217: ColdService {}; final class C218: ColdService {}
final class C219: ColdService {}; final class C220: ColdService {}; final class C221: ColdService {}
final class C222: ColdService {}; final class C223: ColdService {}; final class C224: ColdService {}
final class C225: ColdService {}; final class C226: ColdService {}; final class C227: ColdService {}
final class C228: ColdService {}; final class C229: ColdService {}; final class C230: ColdService {}
final class C231: ColdService {}; final class C232: ColdService {}; final class C233: ColdService {}
final class C234: ColdService {}; final class C235: ColdService {}; final class C236: ColdService {}
final class C237: ColdService {}; final class C238: ColdService {}; final class C239: ColdService {}
final class C240: ColdService {}; final class C241: ColdService {}; final class C242: ColdService {}
final class C243: ColdService {}; final class C244: ColdService {}; final class C245: ColdService {}
final class C246: ColdService {}; final class C247: ColdService {}; final class C248: ColdService {}
final class C249: ColdService {}; final class C250: ColdService {}; final class C251: ColdService {}
final class C252: ColdService {}; final class C253: ColdService {}; final class C254: ColdService {}
final class C255: ColdService {}; final class C256: ColdService {}; final class C257: ColdService {}
final class C258: ColdService {}; final class C259: ColdService {}; final class C260: ColdService {}
final class C261: ColdService {}; final class C262: ColdService {}; final class C263: ColdService {}
final class C264: ColdService {}; final class C265: ColdService {}; final class C266: ColdService {}
final class C267: ColdService {}; final class C268: ColdService {}; final class C269: ColdService {}
final class C270: ColdService {}; final class C271: ColdService {}; final class C272: ColdService {}
final class C273: ColdService {}; final class C274: ColdService {}; final class C275: ColdService {}
final class C276: ColdService {}; final class C277: ColdService {}; final class C278: ColdService {}
final class C279: ColdService {}; final class C280: ColdService {}; final class C281: ColdService {}
final class C282: ColdService {}; final class C283: ColdService {}; final class C284: ColdService {}
final class C285: ColdService {}; final class C286: ColdService {}; final class C287: ColdService {}
final class C288: ColdService {}; final class C289: ColdService {}; final class C290: ColdService {}
final class C291: ColdService {}; final class C292: ColdService {}; final class C293: ColdService {}
final class C294: ColdService {}; final class C295: ColdService {}; final class C296: ColdService {}
final class C297: ColdService {}; final class C298: ColdService {}; final class C299: ColdService {}
final class C300: ColdService {}; final class C301: ColdService {}; final class C302: ColdService {}
final class C303: ColdService {}; final class C304: ColdService {}; final class C305: ColdService {}
final class C306: ColdService {}; final class C307: ColdService {}; final class C308: ColdService {}
final class C309: ColdService {}; final class C310: ColdService {}; final class C311: ColdService {}
final class C312: ColdService {}; final class C313: ColdService {}; final class C314: ColdService {}
final class C315: ColdService {}; final class C316: ColdService {}; final class C317: ColdService {}
final class C318: ColdService {}; final class C319: ColdService {}; final class C320: ColdService {}
final class C321: ColdService {}; final class C322: ColdService {}; final class C323: ColdService {}
final class C324: ColdService {}; final class C325: ColdService {}; final class C326: ColdService {}
final class C327: ColdService {}; final class C328: ColdService {}; final class C329: ColdService {}
final class C330: ColdService {}; final class C331: ColdService {}; final class C332: ColdService {}
final class C333: ColdService {}; final class C334: ColdService {}; final class C335: ColdService {}
final class C336: ColdService {}; final class C337: ColdService {}; final class C338: ColdService {}
final class C339: ColdService {}; final class C340: ColdService {}; final class C341: ColdService {}
final class C342: ColdService {}; final class C343: ColdService {}; final class C344: ColdService {}
final class C345: ColdService {}; final class C346: ColdService {}; final class C347: ColdService {}
final class C348: ColdService {}; final class C349: ColdService {}; final class C350: ColdService {}
final class C351: ColdService {}; final class C352: ColdService {}; final class C353: ColdService {}
final class C354: ColdService {}; final class C355: ColdService {}; final class C356: ColdService {}
final class C357: ColdService {}; final class C358: ColdService {}; final class C359: ColdService {}
final class C360: ColdService {}; final class C361: ColdService {}; final class C362: ColdService {}
final class C363: ColdService {}; final class C364: ColdService {}; final class C365: ColdService {}
final class C366: ColdService {}; final class C367: ColdService {}; final class C368: ColdService {}
final class C369: ColdService {}; final class C370: ColdService {}; final class C371: ColdService {}
final class C372: ColdService {}; final class C373: ColdService {}; final class C374: ColdService {}
final class C375: ColdService {}; final class C376: ColdService {}; final class C377: ColdService {}
final class C378: ColdService {}; final class C379: ColdService {}; final class C380: ColdService {}
final class C381: ColdService {}; final class C382: ColdService {}; final class C383: ColdService {}
final class C384: ColdService {}; final class C385: ColdService {}; final class C386: ColdService {}
final class C387: ColdService {}; final class C388: ColdService {}; final class C389: ColdService {}
final class C390: ColdService {}; final class C391: ColdService {}; final class C392: ColdService {}
final class C393: ColdService {}; final class C394: ColdService {}; final class C395: ColdService {}
final class C396: ColdService {}; final class C397: ColdService {}; final class C398: ColdService {}
final class C399: ColdService {}; final class C400: ColdService {}; final class C401: ColdService {}
final class C402: ColdService {}; final class C403: ColdService {}; final class C404: ColdService {}
final class C405: ColdService {}; final class C406: ColdService {}; final class C407: ColdService {}
final class C408: ColdService {}; final class C409: ColdService {}; final class C410: ColdService {}
final class C411: ColdService {}; final class C412: ColdService {}; final class C413: ColdService {}
final class C414: ColdService {}; final class C415: ColdService {}; final class C416: ColdService {}
final class C417: ColdService {}; final class C418: ColdService {}; final class C419: ColdService {}
final class C420: ColdService {}; final class C421: ColdService {}; final class C422: ColdService {}
final class C423: ColdService {}; final class C424: ColdService {}; final class C425: ColdService {}
final class C426: ColdService {}; final class C427: ColdService {}; final class C428: ColdService {}
final class C429: ColdService {}; final class C430: ColdService {}; final class C431: ColdService {}
final class C432: ColdService {}; final class C433: ColdService {}; final class C434: ColdService {}
final class C435: ColdService {}; final class C436: ColdService {}; final class C437: ColdService {}
final class C438: ColdService {}; final class C439: ColdService {}; final class C440: ColdService {}
final class C441: ColdService {}; final class C442: ColdService {}; final class C443: ColdService {}
final class C444: ColdService {}; final class C445: ColdService {}; final class C446: ColdService {}
final class C447: ColdService {}; final class C448: ColdService {}; final class C449: ColdService {}
final class C450: ColdService {}; final class C451: ColdService {}; final class C452: ColdService {}
final class C453: ColdService {}; final class C454: ColdService {}; final class C455: ColdService {}
final class C456: ColdService {}; final class C457: ColdService {}; final class C458: ColdService {}
final class C459: ColdService {}; final class C460: ColdService {}; final class C461: ColdService {}
final class C462: ColdService {}; final class C463: ColdService {}; final class C464: ColdService {}
final class C465: ColdService {}; final class C466: ColdService {}; final class C467: ColdService {}
final class C468: ColdService {}; final class C469: ColdService {}; final class C470: ColdService {}
final class C471: ColdService {}; final class C472: ColdService {}; final class C473: ColdService {}
final class C474: ColdService {}; final class C475: ColdService {}; final class C476: ColdService {}
final class C477: ColdService {}; final class C478: ColdService {}; final class C479: ColdService {}
final class C480: ColdService {}; final class C481: ColdService {}; final class C482: ColdService {}
final class C483: ColdService {}; final class C484: ColdService {}; final class C485: ColdService {}
final class C486: ColdService {}; final class C487: ColdService {}; final class C488: ColdService {}
final class C489: ColdService {}; final class C490: ColdService {}; final class C491: ColdService {}
final class C492: ColdService {}; final class C493: ColdService {}; final class C494: ColdService {}
final class C495: ColdService {}; final class C496: ColdService {}; final class C497: ColdService {}
final class C498: ColdService {}; final class C499: ColdService {}; final class C500: ColdService {}
final class C501: ColdService {}; final class C502: ColdService {}; final class C503: ColdService {}
final class C504: ColdService {}; final class C505: ColdService {}; final class C506: ColdService {}
final class C507: ColdService {}; final class C508: ColdService {}; final class C509: ColdService {}
final class C510: ColdService {}; final class C511: ColdService {}; final class C512: ColdService {}
final class C513: ColdService {}; final class C514: ColdService {}; final class C515: ColdService {}
final class C516: ColdService {}; final class C517: ColdService {}; final class C518: ColdService {}
final class C519: ColdService {}; final class C520: ColdService {}; final class C521: ColdService {}
final class C522: ColdService {}; final class C523: ColdService {}; final class C524: ColdService {}
final class C525: ColdService {}; final class C526: ColdService {}; final class C527: ColdService {}
final class C528: ColdService {}; final class C529: ColdService {}; final class C530: ColdService {}
final class C531: ColdService {}; final class C532: ColdService {}; final class C533: ColdService {}
final class C534: ColdService {}; final class C535: ColdService {}; final class C536: ColdService {}
final class C537: ColdService {}; final class C538: ColdService {}; final class C539: ColdService {}
final class C540: ColdService {}; final class C541: ColdService {}; final class C542: ColdService {}
final class C543: ColdService {}; final class C544: ColdService {}; final class C545: ColdService {}
final class C546: ColdService {}; final class C547: ColdService {}; final class C548: ColdService {}
final class C549: ColdService {}; final class C550: ColdService {}; final class C551: ColdService {}
final class C552: ColdService {}; final class C553: ColdService {}; final class C554: ColdService {}
final class C555: ColdService {}; final class C556: ColdService {}; final class C557: ColdService {}
final class C558: ColdService {}; final class C559: ColdService {}; final class C560: ColdService {}
final class C561: ColdService {}; final class C562: ColdService {}; final class C563: ColdService {}
final class C564: ColdService {}; final class C565: ColdService {}; final class C566: ColdService {}
final class C567: ColdService {}; final class C568: ColdService {}; final class C569: ColdService {}
final class C570: ColdService {}; final class C571: ColdService {}; final class C572: ColdService {}
final class C573: ColdService {}; final class C574: ColdService {}; final class C575: ColdService {}
final class C576: ColdService {}; final class C577: ColdService {}; final class C578: ColdService {}
final class C579: ColdService {}; final class C580: ColdService {}; final class C581: ColdService {}
final class C582: ColdService {}; final class C583: ColdService {}; final class C584: ColdService {}
final class C585: ColdService {}; final class C586: ColdService {}; final class C587: ColdService {}
final class C588: ColdService {}; final class C589: ColdService {}; final class C590: ColdService {}
final class C591: ColdService {}; final class C592: ColdService {}; final class C593: ColdService {}
final class C594: ColdService {}; final class C595: ColdService {}; final class C596: ColdService {}
final class C597: ColdService {}; final class C598: ColdService {}; final class C599: ColdService {}
final class C600: ColdService {}; final class C601: ColdService {}; final class C602: ColdService {}
final class C603: ColdService {}; final class C604: ColdService {}; final class C605: ColdService {}
final class C606: ColdService {}; final class C607: ColdService {}; final class C608: ColdService {}
final class C609: ColdService {}; final class C610: ColdService {}; final class C611: ColdService {}
final class C612: ColdService {}; final class C613: ColdService {}; final class C614: ColdService {}
final class C615: ColdService {}; final class C616: ColdService {}; final class C617: ColdService {}
final class C618: ColdService {}; final class C619: ColdService {}; final class C620: ColdService {}
final class C621: ColdService {}; final class C622: ColdService {}; final class C623: ColdService {}
final class C624: ColdService {}; final class C625: ColdService {}; final class C626: ColdService {}
final class C627: ColdService {}; final class C628: ColdService {}; final class C629: ColdService {}
final class C630: ColdService {}; final class C631: ColdService {}; final class C632: ColdService {}
final class C633: ColdService {}; final class C634: ColdService {}; final class C635: ColdService {}
final class C636: ColdService {}; final class C637: ColdService {}; final class C638: ColdService {}
final class C639: ColdService {}; final class C640: ColdService {}; final class C641: ColdService {}
final class C642: ColdService {}; final class C643: ColdService {}; final class C644: ColdService {}
final class C645: ColdService {}; final class C646: ColdService {}; final class C647: ColdService {}
final class C648: ColdService {}; final class C649: ColdService {}; final class C650: ColdService {}
final class C651: ColdService {}; final class C652: ColdService {}; final class C653: ColdService {}
final class C654: ColdService {}; final class C655: ColdService {}; final class C656: ColdService {}
final class C657: ColdService {}; final class C658: ColdService {}; final class C659: ColdService {}
final class C660: ColdService {}; final class C661: ColdService {}; final class C662: ColdService {}
final class C663: ColdService {}; final class C664: ColdService {}; final class C665: ColdService {}
final class C666: ColdService {}; final class C667: ColdService {}; final class C668: ColdService {}
final class C669: ColdService {}; final class C670: ColdService {}; final class C671: ColdService {}
final class C672: ColdService {}; final class C673: ColdService {}; final class C674: ColdService {}
final class C675: ColdService {}; final class C676: ColdService {}; final class C677: ColdService {}
final class C678: ColdService {}; final class C679: ColdService {}; final class C680: ColdService {}
final class C681: ColdService {}; final class C682: ColdService {}; final class C683: ColdService {}
final class C684: ColdService {}; final class C685: ColdService {}; final class C686: ColdService {}
final class C687: ColdService {}; final class C688: ColdService {}; final class C689: ColdService {}
final class C690: ColdService {}; final class C691: ColdService {}; final class C692: ColdService {}
final class C693: ColdService {}; final class C694: ColdService {}; final class C695: ColdService {}
final class C696: ColdService {}; final class C697: ColdService {}; final class C698: ColdService {}
final class C699: ColdService {}; final class C700: ColdService {}; final class C701: ColdService {}
final class C702: ColdService {}; final class C703: ColdService {}; final class C704: ColdService {}
final class C705: ColdService {}; final class C706: ColdService {}; final class C707: ColdService {}
final class C708: ColdService {}; final class C709: ColdService {}; final class C710: ColdService {}
final class C711: ColdService {}; final class C712: ColdService {}; final class C713: ColdService {}
final class C714: ColdService {}; final class C715: ColdService {}; final class C716: ColdService {}
final class C717: ColdService {}; final class C718: ColdService {}; final class C719: ColdService {}
final class C720: ColdService {}; final class C721: ColdService {}; final class C722: ColdService {}
final class C723: ColdService {}; final class C724: ColdService {}; final class C725: ColdService {}
final class C726: ColdService {}; final class C727: ColdService {}; final class C728: ColdService {}
final class C729: ColdService {}; final class C730: ColdService {}; final class C731: ColdService {}
final class C732: ColdService {}; final class C733: ColdService {}; final class C734: ColdService {}
final class C735: ColdService {}; final class C736: ColdService {}; final class C737: ColdService {}
final class C738: ColdService {}; final class C739: ColdService {}; final class C740: ColdService {}
final class C741: ColdService {}; final class C742: ColdService {}; final class C743: ColdService {}
final class C744: ColdService {}; final class C745: ColdService {}; final class C746: ColdService {}
final class C747: ColdService {}; final class C748: ColdService {}; final class C749: ColdService {}
final class C750: ColdService {}; final class C751: ColdService {}; final class C752: ColdService {}
final class C753: ColdService {}; final class C754: ColdService {}; final class C755: ColdService {}
final class C756: ColdService {}; final class C757: ColdService {}; final class C758: ColdService {}
final class C759: ColdService {}; final class C760: ColdService {}; final class C761: ColdService {}
final class C762: ColdService {}; final class C763: ColdService {}; final class C764: ColdService {}
final class C765: ColdService {}; final class C766: ColdService {}; final class C767: ColdService {}
final class C768: ColdService {}; final class C769: ColdService {}; final class C770: ColdService {}
final class C771: ColdService {}; final class C772: ColdService {}; final class C773: ColdService {}
final class C774: ColdService {}; final class C775: ColdService {}; final class C776: ColdService {}
final class C777: ColdService {}; final class C778: ColdService {}; final class C779: ColdService {}
final class C780: ColdService {}; final class C781: ColdService {}; final class C782: ColdService {}
final class C783: ColdService {}; final class C784: ColdService {}; final class C785: ColdService {}
final class C786: ColdService {}; final class C787: ColdService {}; final class C788: ColdService {}
final class C789: ColdService {}; final class C790: ColdService {}; final class C791: ColdService {}
final class C792: ColdService {}; final class C793: ColdService {}; final class C794: ColdService {}
final class C795: ColdService {}; final class C796: ColdService {}; final class C797: ColdService {}
final class C798: ColdService {}; final class C799: ColdService {}; final class C800: ColdService {}
final class C801: ColdService {}; final class C802: ColdService {}; final class C803: ColdService {}
final class C804: ColdService {}; final class C805: ColdService {}; final class C806: ColdService {}
final class C807: ColdService {}; final class C808: ColdService {}; final class C809: ColdService {}
final class C810: ColdService {}; final class C811: ColdService {}; final class C812: ColdService {}
final class C813: ColdService {}; final class C814: ColdService {}; final class C815: ColdService {}
final class C816: ColdService {}; final class C817: ColdService {}; final class C818: ColdService {}
final class C819: ColdService {}; final class C820: ColdService {}; final class C821: ColdService {}
final class C822: ColdService {}; final class C823: ColdService {}; final class C824: ColdService {}
final class C825: ColdService {}; final class C826: ColdService {}; final class C827: ColdService {}
final class C828: ColdService {}; final class C829: ColdService {}; final class C830: ColdService {}
final class C831: ColdService {}; final class C832: ColdService {}; final class C833: ColdService {}
final class C834: ColdService {}; final class C835: ColdService {}; final class C836: ColdService {}
final class C837: ColdService {}; final class C838: ColdService {}; final class C839: ColdService {}
final class C840: ColdService {}; final class C841: ColdService {}; final class C842: ColdService {}
final class C843: ColdService {}; final class C844: ColdService {}; final class C845: ColdService {}
final class C846: ColdService {}; final class C847: ColdService {}; final class C848: ColdService {}
final class C849: ColdService {}; final class C850: ColdService {}; final class C851: ColdService {}
final class C852: ColdService {}; final class C853: ColdService {}; final class C854: ColdService {}
final class C855: ColdService {}; final class C856: ColdService {}; final class C857: ColdService {}
final class C858: ColdService {}; final class C859: ColdService {}; final class C860: ColdService {}
final class C861: ColdService {}; final class C862: ColdService {}; final class C863: ColdService {}
final class C864: ColdService {}; final class C865: ColdService {}; final class C866: ColdService {}
final class C867: ColdService {}; final class C868: ColdService {}; final class C869: ColdService {}
final class C870: ColdService {}; final class C871: ColdService {}; final class C872: ColdService {}
final class C873: ColdService {}; final class C874: ColdService {}; final class C875: ColdService {}
final class C876: ColdService {}; final class C877: ColdService {}; final class C878: ColdService {}
final class C879: ColdService {}; final class C880: ColdService {}; final class C881: ColdService {}
final class C882: ColdService {}; final class C883: ColdService {}; final class C884: ColdService {}
final class C885: ColdService {}; final class C886: ColdService {}; final class C887: ColdService {}
final class C888: ColdService {}; final class C889: ColdService {}; final class C890: ColdService {}
final class C891: ColdService {}; final class C892: ColdService {}; final class C893: ColdService {}
final class C894: ColdService {}; final class C895: ColdService {}; final class C896: ColdService {}
final class C897: ColdService {}; final class C898: ColdService {}; final class C899: ColdService {}
final class C900: ColdService {}; final class C901: ColdService {}; final class C902: ColdService {}
final class C903: ColdService {}; final class C904: ColdService {}; final class C905: ColdService {}
final class C906: ColdService {}; final class C907: ColdService {}; final class C908: ColdService {}
final class C909: ColdService {}; final class C910: ColdService {}; final class C911: ColdService {}
final class C912: ColdService {}; final class C913: ColdService {}; final class C914: ColdService {}
final class C915: ColdService {}; final class C916: ColdService {}; final class C917: ColdService {}
final class C918: ColdService {}; final class C919: ColdService {}; final class C920: ColdService {}
final class C921: ColdService {}; final class C922: ColdService {}; final class C923: ColdService {}
final class C924: ColdService {}; final class C925: ColdService {}; final class C926: ColdService {}
final class C927: ColdService {}; final class C928: ColdService {}; final class C929: ColdService {}
final class C930: ColdService {}; final class C931: ColdService {}; final class C932: ColdService {}
final class C933: ColdService {}; final class C934: ColdService {}; final class C935: ColdService {}
final class C936: ColdService {}; final class C937: ColdService {}; final class C938: ColdService {}
final class C939: ColdService {}; final class C940: ColdService {}; final class C941: ColdService {}
final class C942: ColdService {}; final class C943: ColdService {}; final class C944: ColdService {}
final class C945: ColdService {}; final class C946: ColdService {}; final class C947: ColdService {}
final class C948: ColdService {}; final class C949: ColdService {}; final class C950: ColdService {}
final class C951: ColdService {}; final class C952: ColdService {}; final class C953: ColdService {}
final class C954: ColdService {}; final class C955: ColdService {}; final class C956: ColdService {}
final class C957: ColdService {}; final class C958: ColdService {}; final class C959: ColdService {}
final class C960: ColdService {}; final class C961: ColdService {}; final class C962: ColdService {}
final class C963: ColdService {}; final class C964: ColdService {}; final class C965: ColdService {}
final class C966: ColdService {}; final class C967: ColdService {}; final class C968: ColdService {}
final class C969: ColdService {}; final class C970: ColdService {}; final class C971: ColdService {}
final class C972: ColdService {}; final class C973: ColdService {}; final class C974: ColdService {}
final class C975: ColdService {}; final class C976: ColdService {}; final class C977: ColdService {}
final class C978: ColdService {}; final class C979: ColdService {}; final class C980: ColdService {}
final class C981: ColdService {}; final class C982: ColdService {}; final class C983: ColdService {}
final class C984: ColdService {}; final class C985: ColdService {}; final class C986: ColdService {}
final class C987: ColdService {}; final class C988: ColdService {}; final class C989: ColdService {}
final class C990: ColdService {}; final class C991: ColdService {}; final class C992: ColdService {}
final class C993: ColdService {}; final class C994: ColdService {}; final class C995: ColdService {}
final class C996: ColdService {}; final class C997: ColdService {}; final class C998: ColdService {}
final class C999: ColdService {}
