--
-- PostgreSQL database dump
--

\restrict zoo

-- Dumped from database version 18.6 (Debian 18.6-3)
-- Dumped by pg_dump version 18.6 (Debian 18.6-3)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: item; Type: TABLE; Schema: app; Owner: zoo_owner
--

CREATE TABLE app.item (
    id bigint NOT NULL,
    name text NOT NULL,
    mood app.mood DEFAULT 'ok'::app.mood,
    price numeric(10,2),
    data bytea,
    CONSTRAINT price_check CHECK ((price >= (0)::numeric))
);


ALTER TABLE app.item OWNER TO zoo_owner;

--
-- Name: TABLE item; Type: COMMENT; Schema: app; Owner: zoo_owner
--

COMMENT ON TABLE app.item IS 'items
of the shop';


--
-- Name: moods; Type: MATERIALIZED VIEW; Schema: app; Owner: zoo_owner
--

CREATE MATERIALIZED VIEW app.moods AS
 SELECT mood,
    count(*) AS n
   FROM app.item
  GROUP BY mood
  WITH NO DATA;


ALTER MATERIALIZED VIEW app.moods OWNER TO zoo_owner;

--
-- Data for Name: item; Type: TABLE DATA; Schema: app; Owner: zoo_owner
--

COPY app.item (id, name, mood, price, data) FROM stdin;
1	item 1	ok	1.25	\\xc4ca4238a0b923820dcc509a6f75849b
2	item 2	happy	2.50	\\xc81e728d9d4c2f636f067f89cc14862c
3	item 3	sad	3.75	\\xeccbc87e4b5ce2fe28308fd9f2a7baf3
4	item 4	ok	5.00	\\xa87ff679a2f3e71d9181a67b7542122c
5	item 5	happy	6.25	\\xe4da3b7fbbce2345d7772b0674a318d5
6	item 6	sad	7.50	\\x1679091c5a880faf6fb5e6087eb1b2dc
7	item 7\twith tab\nand \\ more	ok	8.75	\\x8f14e45fceea167a5a36dedd4bea2543
8	item 8	happy	10.00	\\xc9f0f895fb98ab9159f51fd0297e236d
9	item 9	sad	11.25	\\x45c48cce2e2d7fbdea1afc51c7c6ad26
10	item 10	ok	12.50	\\xd3d9446802a44259755d38e6d163e820
11	item 11	happy	13.75	\\x6512bd43d9caa6e02c990b0a82652dca
12	item 12	sad	15.00	\\xc20ad4d76fe97759aa27a0c99bff6710
13	item 13	ok	16.25	\\xc51ce410c124a10e0db5e4b97fc2af39
14	item 14\twith tab\nand \\ more	happy	17.50	\\xaab3238922bcc25a6f606eb525ffdc56
15	item 15	sad	18.75	\\x9bf31c7ff062936a96d3c8bd1f8f2ff3
16	item 16	ok	20.00	\\xc74d97b01eae257e44aa9d5bade97baf
17	item 17	happy	21.25	\\x70efdf2ec9b086079795c442636b55fb
18	item 18	sad	22.50	\\x6f4922f45568161a8cdf4ad2299f6d23
19	item 19	ok	23.75	\\x1f0e3dad99908345f7439f8ffabdffc4
20	item 20	happy	25.00	\\x98f13708210194c475687be6106a3b84
21	item 21\twith tab\nand \\ more	sad	26.25	\\x3c59dc048e8850243be8079a5c74d079
22	item 22	ok	27.50	\\xb6d767d2f8ed5d21a44b0e5886680cb9
23	item 23	happy	28.75	\\x37693cfc748049e45d87b8c7d8b9aacd
24	item 24	sad	30.00	\\x1ff1de774005f8da13f42943881c655f
25	item 25	ok	31.25	\\x8e296a067a37563370ded05f5a3bf3ec
26	item 26	happy	32.50	\\x4e732ced3463d06de0ca9a15b6153677
27	item 27	sad	33.75	\\x02e74f10e0327ad868d138f2b4fdd6f0
28	item 28\twith tab\nand \\ more	ok	35.00	\\x33e75ff09dd601bbe69f351039152189
29	item 29	happy	36.25	\\x6ea9ab1baa0efb9e19094440c317e21b
30	item 30	sad	37.50	\\x34173cb38f07f89ddbebc2ac9128303f
31	item 31	ok	38.75	\\xc16a5320fa475530d9583c34fd356ef5
32	item 32	happy	40.00	\\x6364d3f0f495b6ab9dcf8d3b5c6e0b01
33	item 33	sad	41.25	\\x182be0c5cdcd5072bb1864cdee4d3d6e
34	item 34	ok	42.50	\\xe369853df766fa44e1ed0ff613f563bd
35	item 35\twith tab\nand \\ more	happy	43.75	\\x1c383cd30b7c298ab50293adfecb7b18
36	item 36	sad	45.00	\\x19ca14e7ea6328a42e0eb13d585e4c22
37	item 37	ok	46.25	\\xa5bfc9e07964f8dddeb95fc584cd965d
38	item 38	happy	47.50	\\xa5771bce93e200c36f7cd9dfd0e5deaa
39	item 39	sad	48.75	\\xd67d8ab4f4c10bf22aa353e27879133c
40	item 40	ok	50.00	\\xd645920e395fedad7bbbed0eca3fe2e0
41	item 41	happy	51.25	\\x3416a75f4cea9109507cacd8e2f2aefc
42	item 42\twith tab\nand \\ more	sad	52.50	\\xa1d0c6e83f027327d8461063f4ac58a6
43	item 43	ok	53.75	\\x17e62166fc8586dfa4d1bc0e1742c08b
44	item 44	happy	55.00	\\xf7177163c833dff4b38fc8d2872f1ec6
45	item 45	sad	56.25	\\x6c8349cc7260ae62e3b1396831a8398f
46	item 46	ok	57.50	\\xd9d4f495e875a2e075a1a4a6e1b9770f
47	item 47	happy	58.75	\\x67c6a1e7ce56d3d6fa748ab6d9af3fd7
48	item 48	sad	60.00	\\x642e92efb79421734881b53e1e1b18b6
49	item 49\twith tab\nand \\ more	ok	61.25	\\xf457c545a9ded88f18ecee47145a72c0
50	item 50	happy	62.50	\\xc0c7c76d30bd3dcaefc96f40275bdc0a
51	item 51	sad	63.75	\\x2838023a778dfaecdc212708f721b788
52	item 52	ok	65.00	\\x9a1158154dfa42caddbd0694a4e9bdc8
53	item 53	happy	66.25	\\xd82c8d1619ad8176d665453cfb2e55f0
54	item 54	sad	67.50	\\xa684eceee76fc522773286a895bc8436
55	item 55	ok	68.75	\\xb53b3a3d6ab90ce0268229151c9bde11
56	item 56\twith tab\nand \\ more	happy	70.00	\\x9f61408e3afb633e50cdf1b20de6f466
57	item 57	sad	71.25	\\x72b32a1f754ba1c09b3695e0cb6cde7f
58	item 58	ok	72.50	\\x66f041e16a60928b05a7e228a89c3799
59	item 59	happy	73.75	\\x093f65e080a295f8076b1c5722a46aa2
60	item 60	sad	75.00	\\x072b030ba126b2f4b2374f342be9ed44
61	item 61	ok	76.25	\\x7f39f8317fbdb1988ef4c628eba02591
62	item 62	happy	77.50	\\x44f683a84163b3523afe57c2e008bc8c
63	item 63\twith tab\nand \\ more	sad	78.75	\\x03afdbd66e7929b125f8597834fa83a4
64	item 64	ok	80.00	\\xea5d2f1c4608232e07d3aa3d998e5135
65	item 65	happy	81.25	\\xfc490ca45c00b1249bbe3554a4fdf6fb
66	item 66	sad	82.50	\\x3295c76acbf4caaed33c36b1b5fc2cb1
67	item 67	ok	83.75	\\x735b90b4568125ed6c3f678819b6e058
68	item 68	happy	85.00	\\xa3f390d88e4c41f2747bfa2f1b5f87db
69	item 69	sad	86.25	\\x14bfa6bb14875e45bba028a21ed38046
70	item 70\twith tab\nand \\ more	ok	87.50	\\x7cbbc409ec990f19c78c75bd1e06f215
71	item 71	happy	88.75	\\xe2c420d928d4bf8ce0ff2ec19b371514
72	item 72	sad	90.00	\\x32bb90e8976aab5298d5da10fe66f21d
73	item 73	ok	91.25	\\xd2ddea18f00665ce8623e36bd4e3c7c5
74	item 74	happy	92.50	\\xad61ab143223efbc24c7d2583be69251
75	item 75	sad	93.75	\\xd09bf41544a3365a46c9077ebb5e35c3
76	item 76	ok	95.00	\\xfbd7939d674997cdb4692d34de8633c4
77	item 77\twith tab\nand \\ more	happy	96.25	\\x28dd2c7955ce926456240b2ff0100bde
78	item 78	sad	97.50	\\x35f4a8d465e6e1edc05f3d8ab658c551
79	item 79	ok	98.75	\\xd1fe173d08e959397adf34b1d77e88d7
80	item 80	happy	100.00	\\xf033ab37c30201f73f142449d037028d
81	item 81	sad	101.25	\\x43ec517d68b6edd3015b3edc9a11367b
82	item 82	ok	102.50	\\x9778d5d219c5080b9a6a17bef029331c
83	item 83	happy	103.75	\\xfe9fc289c3ff0af142b6d3bead98a923
84	item 84\twith tab\nand \\ more	sad	105.00	\\x68d30a9594728bc39aa24be94b319d21
85	item 85	ok	106.25	\\x3ef815416f775098fe977004015c6193
86	item 86	happy	107.50	\\x93db85ed909c13838ff95ccfa94cebd9
87	item 87	sad	108.75	\\xc7e1249ffc03eb9ded908c236bd1996d
88	item 88	ok	110.00	\\x2a38a4a9316c49e5a833517c45d31070
89	item 89	happy	111.25	\\x7647966b7343c29048673252e490f736
90	item 90	sad	112.50	\\x8613985ec49eb8f757ae6439e879bb2a
91	item 91\twith tab\nand \\ more	ok	113.75	\\x54229abfcfa5649e7003b83dd4755294
92	item 92	happy	115.00	\\x92cc227532d17e56e07902b254dfad10
93	item 93	sad	116.25	\\x98dce83da57b0395e163467c9dae521b
94	item 94	ok	117.50	\\xf4b9ec30ad9f68f89b29639786cb62ef
95	item 95	happy	118.75	\\x812b4ba287f5ee0bc9d43bbf5bbe87fb
96	item 96	sad	120.00	\\x26657d5ff9020d2abefe558796b99584
97	item 97	ok	121.25	\\xe2ef524fbf3d9fe611d5a8e90fefdc9c
98	item 98\twith tab\nand \\ more	happy	122.50	\\xed3d2c21991e3bef5e069713af9fa6ca
99	item 99	sad	123.75	\\xac627ab1ccbdb62ec96e702f07f6425b
100	item 100	ok	125.00	\\xf899139df5e1059396431415e770c6dd
101	item 101	happy	126.25	\\x38b3eff8baf56627478ec76a704e9b52
102	item 102	sad	127.50	\\xec8956637a99787bd197eacd77acce5e
103	item 103	ok	128.75	\\x6974ce5ac660610b44d9b9fed0ff9548
104	item 104	happy	130.00	\\xc9e1074f5b3f9fc8ea15d152add07294
105	item 105\twith tab\nand \\ more	sad	131.25	\\x65b9eea6e1cc6bb9f0cd2a47751a186f
106	item 106	ok	132.50	\\xf0935e4cd5920aa6c7c996a5ee53a70f
107	item 107	happy	133.75	\\xa97da629b098b75c294dffdc3e463904
108	item 108	sad	135.00	\\xa3c65c2974270fd093ee8a9bf8ae7d0b
109	item 109	ok	136.25	\\x2723d092b63885e0d7c260cc007e8b9d
110	item 110	happy	137.50	\\x5f93f983524def3dca464469d2cf9f3e
111	item 111	sad	138.75	\\x698d51a19d8a121ce581499d7b701668
112	item 112\twith tab\nand \\ more	ok	140.00	\\x7f6ffaa6bb0b408017b62254211691b5
113	item 113	happy	141.25	\\x73278a4a86960eeb576a8fd4c9ec6997
114	item 114	sad	142.50	\\x5fd0b37cd7dbbb00f97ba6ce92bf5add
115	item 115	ok	143.75	\\x2b44928ae11fb9384c4cf38708677c48
116	item 116	happy	145.00	\\xc45147dee729311ef5b5c3003946c48f
117	item 117	sad	146.25	\\xeb160de1de89d9058fcb0b968dbbbd68
118	item 118	ok	147.50	\\x5ef059938ba799aaa845e1c2e8a762bd
119	item 119\twith tab\nand \\ more	happy	148.75	\\x07e1cd7dca89a1678042477183b7ac3f
120	item 120	sad	150.00	\\xda4fb5c6e93e74d3df8527599fa62642
121	item 121	ok	151.25	\\x4c56ff4ce4aaf9573aa5dff913df997a
122	item 122	happy	152.50	\\xa0a080f42e6f13b3a2df133f073095dd
123	item 123	sad	153.75	\\x202cb962ac59075b964b07152d234b70
124	item 124	ok	155.00	\\xc8ffe9a587b126f152ed3d89a146b445
125	item 125	happy	156.25	\\x3def184ad8f4755ff269862ea77393dd
126	item 126\twith tab\nand \\ more	sad	157.50	\\x069059b7ef840f0c74a814ec9237b6ec
127	item 127	ok	158.75	\\xec5decca5ed3d6b8079e2e7e7bacc9f2
128	item 128	happy	160.00	\\x76dc611d6ebaafc66cc0879c71b5db5c
129	item 129	sad	161.25	\\xd1f491a404d6854880943e5c3cd9ca25
130	item 130	ok	162.50	\\x9b8619251a19057cff70779273e95aa6
131	item 131	happy	163.75	\\x1afa34a7f984eeabdbb0a7d494132ee5
132	item 132	sad	165.00	\\x65ded5353c5ee48d0b7d48c591b8f430
133	item 133\twith tab\nand \\ more	ok	166.25	\\x9fc3d7152ba9336a670e36d0ed79bc43
134	item 134	happy	167.50	\\x02522a2b2726fb0a03bb19f2d8d9524d
135	item 135	sad	168.75	\\x7f1de29e6da19d22b51c68001e7e0e54
136	item 136	ok	170.00	\\x42a0e188f5033bc65bf8d78622277c4e
137	item 137	happy	171.25	\\x3988c7f88ebcb58c6ce932b957b6f332
138	item 138	sad	172.50	\\x013d407166ec4fa56eb1e1f8cbe183b9
139	item 139	ok	173.75	\\xe00da03b685a0dd18fb6a08af0923de0
140	item 140\twith tab\nand \\ more	happy	175.00	\\x1385974ed5904a438616ff7bdb3f7439
141	item 141	sad	176.25	\\x0f28b5d49b3020afeecd95b4009adf4c
142	item 142	ok	177.50	\\xa8baa56554f96369ab93e4f3bb068c22
143	item 143	happy	178.75	\\x903ce9225fca3e988c2af215d4e544d3
144	item 144	sad	180.00	\\x0a09c8844ba8f0936c20bd791130d6b6
145	item 145	ok	181.25	\\x2b24d495052a8ce66358eb576b8912c8
146	item 146	happy	182.50	\\xa5e00132373a7031000fd987a3c9f87b
147	item 147\twith tab\nand \\ more	sad	183.75	\\x8d5e957f297893487bd98fa830fa6413
148	item 148	ok	185.00	\\x47d1e990583c9c67424d369f3414728e
149	item 149	happy	186.25	\\xf2217062e9a397a1dca429e7d70bc6ca
150	item 150	sad	187.50	\\x7ef605fc8dba5425d6965fbd4c8fbe1f
151	item 151	ok	188.75	\\xa8f15eda80c50adb0e71943adc8015cf
152	item 152	happy	190.00	\\x37a749d808e46495a8da1e5352d03cae
153	item 153	sad	191.25	\\xb3e3e393c77e35a4a3f3cbd1e429b5dc
154	item 154\twith tab\nand \\ more	ok	192.50	\\x1d7f7abc18fcb43975065399b0d1e48e
155	item 155	happy	193.75	\\x2a79ea27c279e471f4d180b08d62b00a
156	item 156	sad	195.00	\\x1c9ac0159c94d8d0cbedc973445af2da
157	item 157	ok	196.25	\\x6c4b761a28b734fe93831e3fb400ce87
158	item 158	happy	197.50	\\x06409663226af2f3114485aa4e0a23b4
159	item 159	sad	198.75	\\x140f6969d5213fd0ece03148e62e461e
160	item 160	ok	200.00	\\xb73ce398c39f506af761d2277d853a92
161	item 161\twith tab\nand \\ more	happy	201.25	\\xbd4c9ab730f5513206b999ec0d90d1fb
162	item 162	sad	202.50	\\x82aa4b0af34c2313a562076992e50aa3
163	item 163	ok	203.75	\\x0777d5c17d4066b82ab86dff8a46af6f
164	item 164	happy	205.00	\\xfa7cdfad1a5aaf8370ebeda47a1ff1c3
165	item 165	sad	206.25	\\x9766527f2b5d3e95d4a733fcfb77bd7e
166	item 166	ok	207.50	\\x7e7757b1e12abcb736ab9a754ffb617a
167	item 167	happy	208.75	\\x5878a7ab84fb43402106c575658472fa
168	item 168\twith tab\nand \\ more	sad	210.00	\\x006f52e9102a8d3be2fe5614f42ba989
169	item 169	ok	211.25	\\x3636638817772e42b59d74cff571fbb3
170	item 170	happy	212.50	\\x149e9677a5989fd342ae44213df68868
171	item 171	sad	213.75	\\xa4a042cf4fd6bfb47701cbc8a1653ada
172	item 172	ok	215.00	\\x1ff8a7b5dc7a7d1f0ed65aaa29c04b1e
173	item 173	happy	216.25	\\xf7e6c85504ce6e82442c770f7c8606f0
174	item 174	sad	217.50	\\xbf8229696f7a3bb4700cfddef19fa23f
175	item 175\twith tab\nand \\ more	ok	218.75	\\x82161242827b703e6acf9c726942a1e4
176	item 176	happy	220.00	\\x38af86134b65d0f10fe33d30dd76442e
177	item 177	sad	221.25	\\x96da2f590cd7246bbde0051047b0d6f7
178	item 178	ok	222.50	\\x8f85517967795eeef66c225f7883bdcb
179	item 179	happy	223.75	\\x8f53295a73878494e9bc8dd6c3c7104f
180	item 180	sad	225.00	\\x045117b0e0a11a242b9765e79cbf113f
181	item 181	ok	226.25	\\xfc221309746013ac554571fbd180e1c8
182	item 182\twith tab\nand \\ more	happy	227.50	\\x4c5bde74a8f110656874902f07378009
183	item 183	sad	228.75	\\xcedebb6e872f539bef8c3f919874e9d7
184	item 184	ok	230.00	\\x6cdd60ea0045eb7a6ec44c54d29ed402
185	item 185	happy	231.25	\\xeecca5b6365d9607ee5a9d336962c534
186	item 186	sad	232.50	\\x9872ed9fc22fc182d371c3e9ed316094
187	item 187	ok	233.75	\\x31fefc0e570cb3860f2a6d4b38c6490d
188	item 188	happy	235.00	\\x9dcb88e0137649590b755372b040afad
189	item 189\twith tab\nand \\ more	sad	236.25	\\xa2557a7b2e94197ff767970b67041697
190	item 190	ok	237.50	\\xcfecdb276f634854f3ef915e2e980c31
191	item 191	happy	238.75	\\x0aa1883c6411f7873cb83dacb17b0afc
192	item 192	sad	240.00	\\x58a2fc6ed39fd083f55d4182bf88826d
193	item 193	ok	241.25	\\xbd686fd640be98efaae0091fa301e613
194	item 194	happy	242.50	\\xa597e50502f5ff68e3e25b9114205d4a
195	item 195	sad	243.75	\\x0336dcbab05b9d5ad24f4333c7658a0e
196	item 196\twith tab\nand \\ more	ok	245.00	\\x084b6fbb10729ed4da8c3d3f5a3ae7c9
197	item 197	happy	246.25	\\x85d8ce590ad8981ca2c8286f79f59954
198	item 198	sad	247.50	\\x0e65972dce68dad4d52d063967f0a705
199	item 199	ok	248.75	\\x84d9ee44e457ddef7f2c4f25dc8fa865
200	item 200	happy	250.00	\\x3644a684f98ea8fe223c713b77189a77
\.


--
-- Name: TABLE item; Type: ACL; Schema: app; Owner: zoo_owner
--

GRANT SELECT ON TABLE app.item TO zoo_reader WITH GRANT OPTION;


--
-- Name: COLUMN item.name; Type: ACL; Schema: app; Owner: zoo_owner
--

GRANT UPDATE(name) ON TABLE app.item TO zoo_reader;


--
-- Name: moods; Type: MATERIALIZED VIEW DATA; Schema: app; Owner: zoo_owner
--

REFRESH MATERIALIZED VIEW app.moods;


--
-- PostgreSQL database dump complete
--

\unrestrict zoo

